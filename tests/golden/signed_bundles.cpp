#include "golden/signed_bundles.hpp"

#include "format/bundle/signatures.hpp"
#include "support/bundle_samples.hpp"
#include "support/sample_identities.hpp"

namespace clbin::test {
namespace {

base::SecretKey key_of(const std::array<unsigned char, 32>& seed) {
  return base::SecretKey::from_seed(std::as_bytes(std::span(seed)));
}

} // namespace

base::SecretKey signing_key() {
  return key_of({0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a,
                 0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32,
                 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60});
}

base::SecretKey old_key() {
  return key_of({0x4c, 0xcd, 0x08, 0x9b, 0x28, 0xff, 0x96, 0xda, 0x9d, 0xb6, 0xc3,
                 0x46, 0xec, 0x11, 0x4e, 0x0f, 0x5b, 0x8a, 0x31, 0x9f, 0x35, 0xab,
                 0xa6, 0x24, 0xda, 0x8c, 0xf6, 0xed, 0x4f, 0xb8, 0xa6, 0xfb});
}

base::Bytes bundle_to_sign(const std::string& payload) {
  format::ProgramInput program;
  program.name = k_signed_program;
  program.variants = {{std::string(format::k_default_variant), k_signed_options}};
  program.source = format::SourcePackage{{"saxpy.cl", "saxpy.cl", k_signed_source}, {}};
  format::EntryInput& entry = program.entries.emplace_back();
  entry.variant = format::k_default_variant;
  entry.target.identity = unknown_identity("d");
  entry.options = k_signed_options;
  entry.payload = bytes_of(payload);
  entry.kernels.emplace_back().name = k_signed_program;
  return must_write({"golden", {program}});
}

base::Bytes signed_with_counter(const base::Bytes& bundle, std::uint64_t counter) {
  const base::Digest root = must_open(bundle).root_digest();
  const base::SecretKey key = signing_key();
  return format::with_trailing_records(
             bundle, {to_trailing_record(format::sign_root(root, key)),
                      to_trailing_record(format::sign_counter(root, counter, key)),
                      to_trailing_record(format::vouch_for(key.public_key(), old_key()))})
      .value();
}

std::vector<std::pair<std::string, base::Bytes>> signed_bundles() {
  return {{"signed.clbin", signed_with_counter(bundle_to_sign(k_signed_payload), k_signed_counter)},
          {"other.clbin", signed_with_counter(bundle_to_sign(k_other_payload), k_other_counter)}};
}

} // namespace clbin::test
