#include "golden/golden_bundles.hpp"

#include "format/bundle_surgery.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"

namespace clbin::test {

using base::Bytes;

namespace {

// What sm_70 is compressed against stays, hidden.
Bytes stripped_bundle(const Bytes& bundle) {
  const auto reader = must_open(bundle);
  const auto keep = [](const format::EntryView& entry) {
    return entry.target.spec != "nvptx:sm_50" && entry.target.spec != "nvptx:sm_80";
  };
  return format::strip_bundle(reader, keep, format::KeepSource::no).value().bytes;
}

// Trailing records only: a signature that nobody made, and a record of a kind to come.
Bytes signed_bundle(const Bytes& bundle) {
  constexpr std::uint32_t k_kind_to_come = 15;
  CraftedBundle crafted(bundle);
  crafted.append_trailing(static_cast<std::uint32_t>(format::TrailingKind::ed25519_signature), 0,
                          random_bytes(format::k_ed25519_signature_bytes, 1));
  crafted.append_trailing(k_kind_to_come, 0, bytes_of("skip me"));
  return crafted.build();
}

// A higher minor version, and a section of a kind to come.
Bytes later_bundle(const Bytes& bundle) {
  constexpr auto k_kind_to_come = static_cast<format::SectionKind>(9);
  CraftedBundle crafted(bundle);
  crafted.sections.push_back(
      {{k_kind_to_come, format::k_section_paged, 0, 0, 0, 1}, bytes_of("skip me too")});
  crafted.edit_prefix = [](format::Prefix& prefix) { prefix.minor = 1; };
  return crafted.build();
}

} // namespace

std::vector<std::pair<std::string, Bytes>> golden_bundles() {
  const Bytes sample = must_write(sample_input());
  return {
      {"empty.clbin", must_write({"oclcc 0.1.0", {}})}, {"two_programs.clbin", sample},
      {"stripped.clbin", stripped_bundle(sample)},      {"signed.clbin", signed_bundle(sample)},
      {"minor_1.clbin", later_bundle(sample)},
  };
}

} // namespace clbin::test
