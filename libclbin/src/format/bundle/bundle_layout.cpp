#include "format/bundle/bundle_layout.hpp"

namespace clbin::format {

namespace {

constexpr std::string_view k_root_context = "clbin-root-1";

// By number.
constexpr std::array<SectionTraits, k_known_sections> k_sections{{
    {"GROUP", "group", 40, 0},
    {"ENTRY", "entry", 32, 0},
    {"EXACT", "exact record", 16, 0},
    {"TARGET", "target", 64, 16}, // the digest is its key
    {"BLOB", "blob", 96, 0},
    {"STRINGS", "string"},
    {"PAYLOAD", "payload"},
    {"KEYS", "key slot", 152},
    {},
    {"REQUIREMENT", "requirement", 8},
    {"RANKING", "ranking", 24, 0},
    {"PACK", "pack", 56},
}};

Result<void> require_flags(std::string_view origin, std::uint32_t flags, std::uint32_t known) {
  if ((flags & ~known) != 0) {
    return damaged(origin, "flags 0x{:x} has bits that must be zero", flags);
  }
  return {};
}

} // namespace

const SectionTraits* traits_of(SectionKind kind) noexcept {
  const std::uint32_t index = static_cast<std::uint32_t>(kind) - 1;
  const bool is_known = index < k_sections.size() && !k_sections[index].name.empty();
  return is_known ? &k_sections[index] : nullptr;
}

std::string to_string(SectionKind kind) {
  const SectionTraits* const traits = traits_of(kind);
  return traits != nullptr ? std::string(traits->name)
                           : fmt::format("section {}", static_cast<std::uint32_t>(kind));
}

std::string origin_of(SectionKind kind, std::uint32_t index) {
  return fmt::format("{} {}", traits_of(kind)->record, index);
}

bool is_pack_name(std::string_view name) noexcept {
  constexpr std::size_t k_max_bytes = 100;
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= k_max_bytes && name != k_base_name &&
         is_alphanumeric(name.front()) && std::ranges::all_of(name, [&](char c) {
           return is_alphanumeric(c) || c == '.' || c == '-' || c == '_';
         });
}

TargetView view_of(const Target& target) {
  const auto [family, architecture, features] = target_facts(target);
  const DeviceIdentity& identity = target.identity;
  return {family,
          target.origin,
          architecture,
          identity.address_bits,
          features,
          target_digest(target),
          identity.platform_name,
          identity.device_name,
          identity.driver_version,
          target.spec};
}

Result<void> check_record(const SectionRecord& record, std::string_view /*origin*/) {
  return require_flags(to_string(record.kind), record.flags, k_section_required | k_section_paged);
}

Result<void> check_record(const EntryRecord& record, std::string_view origin) {
  const auto kind = static_cast<std::uint16_t>(record.kind);
  if (kind != record.match_key >> 56U) {
    return damaged(origin, "kind {} is not that of match_key 0x{:016x}", kind, record.match_key);
  }
  if (record.type == PayloadType{}) {
    return damaged(origin, "type is 0");
  }
  return {};
}

Result<void> check_record(const TargetView& record, std::string_view origin) {
  return require_flags(origin, static_cast<std::uint16_t>(record.origin), k_target_offline);
}

Result<void> check_record(const BlobView& record, std::string_view origin) {
  return require_flags(origin, record.flags, 0);
}

void write_prefix(ByteWriter& writer, const Prefix& prefix) {
  writer.write_bytes(std::as_bytes(std::span(k_magic)));
  write_record(writer, prefix);
}

Digest root_of(ByteView rooted_prefix, ByteView directory) {
  return base::Hasher()
      .add(base::as_bytes(k_root_context))
      .add(rooted_prefix)
      .add(directory)
      .finish();
}

std::uint64_t name_hash(std::string_view program, std::string_view variant) {
  const std::string names = fmt::format("{}{}{}", program, '\0', variant);
  return base::leading_u64(base::digest_of(base::as_bytes(names)));
}

} // namespace clbin::format
