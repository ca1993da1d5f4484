#include "modes/extracted_names.hpp"

#include "source/directive_scanner.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

namespace {

constexpr std::size_t k_max_part_bytes = 64;
constexpr std::size_t k_digest_digits = 16;

bool is_harmless(char c) {
  return clbin::source::is_identifier(c) || std::string_view(".+-@").find(c) != std::string::npos;
}

// File systems may be case-insensitive.
std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

std::string plain_name(const EntryPlace& place) {
  const bool offline = place.target.origin == format::TargetOrigin::offline;
  return fmt::format("{}.{}.{}", file_name_part(place.program), file_name_part(place.variant),
                     file_name_part(offline ? place.target.spec : place.target.device_name));
}

std::string digest_of(const EntryPlace& place) {
  const std::string text =
      fmt::format("{}:{}{}:{}{}{}", place.program.size(), place.program, place.variant.size(),
                  place.variant, base::to_hex(place.target.digest), format::to_string(place.kind));
  return base::to_hex(base::digest_of(base::as_bytes(text))).substr(0, k_digest_digits);
}

} // namespace

std::string file_name_part(std::string_view text) {
  std::string part(text.substr(0, k_max_part_bytes));
  std::ranges::replace_if(
      part, [](char c) { return !is_harmless(c); }, '_');
  if (part.empty() || part.front() == '.' || part.front() == '-') {
    part.insert(part.begin(), '_');
  }
  part.resize(std::min(part.size(), k_max_part_bytes));
  return part;
}

std::string_view binary_suffix(format::BinaryKind kind, base::ByteView bytes) noexcept {
  using format::BinaryKind;
  using Suffix = std::pair<BinaryKind, std::string_view>;
  // ocloc(1) calls a zebin ".bin".
  constexpr Suffix k_suffixes[] = {{BinaryKind::ptx, ".ptx"},
                                   {BinaryKind::cubin, ".cubin"},
                                   {BinaryKind::spirv, ".spv"},
                                   {BinaryKind::amd_code_object, ".hsaco"},
                                   {BinaryKind::llvm_bitcode, ".bc"},
                                   {BinaryKind::ar_archive, ".a"},
                                   {BinaryKind::nvidia_fatbin, ".fatbin"},
                                   {BinaryKind::intel_zebin, ".bin"}};
  if (const auto* const known = std::ranges::find(k_suffixes, kind, &Suffix::first);
      known != std::end(k_suffixes)) {
    return known->second;
  }
  return base::as_text(bytes).starts_with("\177ELF") ? ".elf" : ".bin";
}

std::vector<std::string> entry_file_names(const std::vector<EntryPlace>& places) {
  std::vector<std::string> names;
  std::ranges::transform(places, std::back_inserter(names), plain_name);
  // Applied twice, because a plain name may be chosen to equal another name with its digest.
  for (int pass = 0; pass < 2; ++pass) {
    std::map<std::string, std::size_t> users;
    for (const std::string& name : names) {
      ++users[lower_case(name)];
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (users[lower_case(names[i])] > 1) {
        names[i] += "." + digest_of(places[i]);
      }
    }
  }
  return names;
}

} // namespace oclcc
