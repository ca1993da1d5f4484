#include "support/amplifying_bundles.hpp"

#include "base/zstd_codec.hpp"
#include "format/bundle/manifest.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"
#include "support/sample_identities.hpp"
#include "support/table_draft.hpp"

#include <array>
#include <fmt/core.h>
#include <string>

namespace clbin::test {
namespace {

using base::Bytes;
using base::ByteWriter;
using format::SectionKind;

constexpr std::uint32_t k_records = 1250; // at scale 1, if many records name one string
constexpr std::size_t k_long_bytes = 1U << 20U;
constexpr std::size_t k_name_bytes = 64U << 10U; // names are hashed
constexpr std::size_t k_json_bytes = 4U << 20U;
constexpr unsigned k_architecture = 50;

// Offsets in records of clbin(5).
constexpr std::size_t k_group_name_hash = 0;
constexpr std::size_t k_entry_target = 8;
constexpr std::size_t k_entry_manifest_row = 28;
constexpr std::size_t k_exact_entry = 8;
constexpr std::size_t k_target_digest = 16;

// Placeholders for texts of 1 MiB and 64 KiB, and for the names of many kernels.
constexpr const char* k_long = "@long";
constexpr const char* k_name = "@name";
constexpr const char* k_kernels = "@kernels";

std::string many_kernel_names() {
  std::string names;
  for (std::uint32_t number = 0; names.size() + 8 < k_long_bytes; ++number) {
    names += fmt::format("{}{:06x}", number == 0 ? "" : ";", number);
  }
  return names;
}

format::Target device_number(std::uint32_t number) {
  format::Target target;
  target.identity = nvidia_identity("sm_90");
  target.identity.device_name = fmt::format("device {:06}", number);
  return target;
}

// Adds an entry of `variant` for a device with this number. Number 0 is amplified_device.
void add_entry(TableDraft& draft, DraftVariant& variant, std::uint32_t number, std::uint32_t blob) {
  format::Target target = device_number(number);
  if (number == 0) {
    target.identity = amplified_device();
  }
  variant.entries.push_back(
      {ptx_match_key(k_architecture), draft.add_target(std::move(target)), blob, "k", "-DV=1"});
}

// The program "p" with one entry for amplified_device and no source.
TableDraft one_entry() {
  TableDraft draft;
  draft.long_texts = {{k_long, std::string(k_long_bytes, 'x')},
                      {k_name, std::string(k_name_bytes, 'x')}};
  DraftProgram program;
  program.variants.emplace_back();
  add_entry(draft, program.variants.back(), 0, draft.add_stored(sample_ptx(k_architecture, "//")));
  draft.programs.push_back(std::move(program));
  return draft;
}

// The same with `count` entries that share a payload. Has no manifest, because 20,000 rows are slow
// to write and to read.
TableDraft many_entries(std::uint32_t count) {
  TableDraft draft = one_entry();
  DraftProgram& program = draft.programs.front();
  program.manifest = ManifestOf::nobody;
  for (std::uint32_t number = 1; number < count; ++number) {
    add_entry(draft, program.variants.front(), number, program.variants.front().entries[0].blob);
  }
  return draft;
}

// ---- GROUP ---------------------------------------------------------------------------------

Bytes long_program_name(std::uint32_t scale) {
  TableDraft draft = one_entry();
  DraftProgram program;
  program.name = k_name;
  for (std::uint32_t number = 0; number < k_records * scale; ++number) {
    program.variants.push_back({fmt::format("v{:06}", number), "", {}});
  }
  draft.programs.push_back(std::move(program));
  return write_tables(std::move(draft));
}

Bytes long_variant_name(std::uint32_t scale) {
  TableDraft draft = one_entry();
  for (std::uint32_t number = 0; number < k_records * scale; ++number) {
    DraftProgram program;
    program.name = fmt::format("q{:06}", number);
    program.variants.push_back({k_name, "", {}});
    draft.programs.push_back(std::move(program));
  }
  return write_tables(std::move(draft));
}

Bytes long_variant_options(std::uint32_t scale) {
  TableDraft draft = one_entry();
  for (std::uint32_t number = 0; number < k_records * scale; ++number) {
    draft.programs.front().variants.push_back({fmt::format("v{:06}", number), k_long, {}});
  }
  return write_tables(std::move(draft));
}

Bytes many_short_names(std::uint32_t scale) {
  TableDraft draft = one_entry();
  for (std::uint32_t number = 0; number < 4 * k_records * scale; ++number) {
    draft.programs.front().variants.push_back(
        {fmt::format("{}", number), fmt::format("o{}", number), {}});
  }
  return write_tables(std::move(draft));
}

Bytes equal_name_hashes(std::uint32_t scale) {
  CraftedBundle bundle(long_program_name(scale));
  const auto count =
      static_cast<std::uint32_t>(bundle.section(SectionKind::group).bytes.size() / 40);
  for (std::uint32_t group = 0; group < count; ++group) {
    bundle.set_u64(SectionKind::group, group, k_group_name_hash, format::name_hash("p", "missing"));
  }
  return bundle.build();
}

Bytes equal_groups(std::uint32_t scale) {
  CraftedBundle bundle(write_tables(one_entry()));
  Bytes& groups = bundle.section(SectionKind::group).bytes;
  const Bytes one = groups;
  for (std::uint32_t number = 1; number < 4 * k_records * scale; ++number) {
    groups.insert(groups.end(), one.begin(), one.end());
  }
  return bundle.build();
}

// ---- TARGET --------------------------------------------------------------------------------

template <std::string DraftTarget::*Field>
Bytes long_target_text(std::uint32_t scale) {
  TableDraft draft = many_entries(k_records * scale);
  for (DraftTarget& target : draft.targets) {
    target.*Field = k_long;
  }
  return write_tables(std::move(draft));
}

// The names in TARGET differ from those in the otherwise matching manifest.
Bytes target_unlike_manifest(std::uint32_t scale) {
  TableDraft draft = many_entries(k_records / 5 * scale);
  draft.programs.front().manifest = ManifestOf::tables;
  for (DraftTarget& target : draft.targets) {
    target.platform_name = k_long;
  }
  return write_tables(std::move(draft));
}

Bytes equal_targets(std::uint32_t scale) {
  CraftedBundle bundle(write_tables(many_entries(k_records * scale)));
  const base::Digest digest = format::identity_digest(amplified_device());
  for (std::uint32_t record = 0; record < k_records * scale; ++record) {
    bundle.set_bytes(SectionKind::target, record, k_target_digest, digest.bytes);
    bundle.set_u64(SectionKind::exact, record, 0, base::leading_u64(digest));
  }
  return bundle.build();
}

// ---- ENTRY and EXACT -----------------------------------------------------------------------

Bytes long_entry_options(std::uint32_t scale) {
  TableDraft draft = many_entries(k_records * scale);
  for (DraftEntry& entry : draft.programs.front().variants.front().entries) {
    entry.options = k_long;
  }
  return write_tables(std::move(draft));
}

Bytes entry_extensions(std::uint32_t scale, const std::string& names) {
  TableDraft draft = many_entries(k_records * scale);
  draft.long_texts.at(k_long) = "-cl-ext=" + names.substr(0, k_long_bytes - 8);
  for (DraftEntry& entry : draft.programs.front().variants.front().entries) {
    entry.options = k_long;
  }
  return write_tables(std::move(draft));
}

Bytes long_extension_name(std::uint32_t scale) {
  return entry_extensions(scale, std::string(k_long_bytes, '+'));
}

Bytes many_extensions(std::uint32_t scale) {
  std::string names;
  for (std::uint32_t number = 0; names.size() + 8 < k_long_bytes; ++number) {
    names += fmt::format("+{:06x},", number);
  }
  return entry_extensions(scale, names);
}

Bytes entry_kernels(std::uint32_t scale, std::string names) {
  TableDraft draft = many_entries(k_records * scale);
  draft.long_texts.emplace(k_kernels, std::move(names));
  for (DraftEntry& entry : draft.programs.front().variants.front().entries) {
    entry.kernels = k_kernels;
  }
  return write_tables(std::move(draft));
}

Bytes many_kernels(std::uint32_t scale) {
  return entry_kernels(scale, many_kernel_names());
}

// Adds `count` lists of names that consist of `prefix` and two characters.
TableDraft many_short_kernel_names(std::uint32_t count, std::string_view prefix) {
  std::string names;
  for (char first = '!'; first < '~'; ++first) {
    for (char second = '!'; second <= '~' && first != ';'; ++second) {
      if (second != ';') {
        names += prefix;
        names += {first, second, ';'};
      }
    }
  }
  TableDraft draft = many_entries(count);
  std::uint32_t number = 0;
  for (DraftEntry& entry : draft.programs.front().variants.front().entries) {
    entry.kernels = fmt::format("{}~{:06}", names, number++);
  }
  return draft;
}

// 3 bytes of STRINGS become 32 bytes of memory.
Bytes short_kernel_names(std::uint32_t scale) {
  return write_tables(many_short_kernel_names(128 * scale, ""));
}

Bytes nameless_kernels(std::uint32_t scale) {
  return entry_kernels(scale, std::string(k_long_bytes, ';'));
}

Bytes equal_exact_rows(std::uint32_t scale) {
  TableDraft draft = many_entries(4 * k_records * scale);
  for (DraftEntry& entry : draft.programs.front().variants.front().entries) {
    entry.options = k_long;
  }
  CraftedBundle bundle(write_tables(std::move(draft)));
  const std::uint64_t key = base::leading_u64(format::identity_digest(amplified_device()));
  std::uint32_t own = 0;
  while (bundle.u64_at(SectionKind::exact, own, 0) != key) {
    ++own;
  }
  const std::uint32_t entry = bundle.u32_at(SectionKind::exact, own, k_exact_entry);
  for (std::uint32_t record = 0; record < 4 * k_records * scale; ++record) {
    bundle.set_u64(SectionKind::exact, record, 0, key);
    bundle.set_u32(SectionKind::exact, record, k_exact_entry, entry);
  }
  return bundle.build();
}

// Distinct entries that all refer to the target of the first.
Bytes equal_entry_targets(std::uint32_t scale) {
  CraftedBundle bundle(write_tables(many_entries(4 * k_records * scale)));
  const base::Digest digest = format::identity_digest(amplified_device());
  std::uint32_t own = 0;
  while (bundle.u64_at(SectionKind::target, own, k_target_digest) != base::leading_u64(digest)) {
    ++own;
  }
  for (std::uint32_t record = 0; record < 4 * k_records * scale; ++record) {
    bundle.set_u32(SectionKind::entry, record, k_entry_target, own);
    bundle.set_u64(SectionKind::exact, record, 0, base::leading_u64(digest));
    bundle.set_u32(SectionKind::exact, record, k_exact_entry, record);
  }
  return bundle.build();
}

// Each entry is a candidate with its own payload, so the driver must be called for it.
TableDraft draft_candidates(std::uint32_t scale) {
  TableDraft draft = many_entries(1);
  DraftVariant& variant = draft.programs.front().variants.front();
  for (std::uint32_t number = 1; number < k_records * scale; ++number) {
    add_entry(draft, variant, number,
              draft.add_stored(sample_ptx(k_architecture, fmt::format("// {}\n", number))));
    variant.entries.back().options = fmt::format("-DV={}", number);
  }
  return draft;
}

Bytes many_candidates(std::uint32_t scale) {
  return write_tables(draft_candidates(scale));
}

// Each candidate is rejected for its options, which the report of a load quotes.
Bytes candidates_with_long_options(std::uint32_t scale) {
  TableDraft draft = draft_candidates(scale);
  for (DraftEntry& entry : draft.programs.front().variants.front().entries) {
    entry.options = k_long;
  }
  return write_tables(std::move(draft));
}

// ---- STRINGS -------------------------------------------------------------------------------

// Every multiple of 4 in STRINGS is the offset of a string of 1 MiB, which overlaps the next.
Bytes overlapping_strings(TableDraft draft, SectionKind kind, std::size_t field,
                          std::uint32_t record_bytes) {
  CraftedBundle bundle(write_tables(std::move(draft)));
  ByteWriter strings;
  const auto old = bundle.section(SectionKind::strings).bytes;
  strings.write_bytes(old);
  strings.align(4);
  const auto first = static_cast<std::uint32_t>(strings.size());
  const auto count = static_cast<std::uint32_t>(bundle.section(kind).bytes.size() / record_bytes);
  for (std::size_t written = 0; written < k_long_bytes + 4 * std::size_t{count}; written += 4) {
    strings.write_u32(static_cast<std::uint32_t>(k_long_bytes - 4));
  }
  bundle.section(SectionKind::strings).bytes = std::move(strings).take();
  for (std::uint32_t record = 0; record < count; ++record) {
    bundle.set_u32(kind, record, field, first + 4 * record);
  }
  return bundle.build();
}

Bytes overlapping_program_names(std::uint32_t scale) {
  TableDraft draft = one_entry();
  for (std::uint32_t number = 0; number < k_records * scale; ++number) {
    draft.programs.front().variants.push_back({fmt::format("v{:06}", number), "", {}});
  }
  return overlapping_strings(std::move(draft), SectionKind::group, 8, 40);
}

Bytes overlapping_variant_options(std::uint32_t scale) {
  TableDraft draft = one_entry();
  for (std::uint32_t number = 0; number < k_records * scale; ++number) {
    draft.programs.front().variants.push_back({fmt::format("v{:06}", number), "", {}});
  }
  return overlapping_strings(std::move(draft), SectionKind::group, 16, 40);
}

Bytes overlapping_device_names(std::uint32_t scale) {
  return overlapping_strings(many_entries(k_records * scale), SectionKind::target, 52, 64);
}

Bytes overlapping_kernels(std::uint32_t scale) {
  return overlapping_strings(many_entries(k_records * scale), SectionKind::entry, 16, 32);
}

Bytes overlapping_entry_options(std::uint32_t scale) {
  return overlapping_strings(many_entries(k_records * scale), SectionKind::entry, 20, 32);
}

// ---- BLOB and PAYLOAD ----------------------------------------------------------------------

Bytes zeros_of(std::size_t size_bytes, std::uint32_t number) {
  Bytes bytes(size_bytes);
  bytes[0] = static_cast<std::byte>(number & 0xffU);
  bytes[1] = static_cast<std::byte>(number >> 8U);
  return bytes;
}

// The payloads of the candidates are one stored frame under many digests, 64 MiB each.
Bytes blobs_of_one_frame(std::uint32_t scale) {
  constexpr std::size_t k_raw_bytes = 64U << 20U;
  TableDraft draft = many_entries(1);
  DraftVariant& variant = draft.programs.front().variants.front();
  const std::uint32_t real = draft.add_compressed(zeros_of(k_raw_bytes, 0));
  for (std::uint32_t number = 1; number < k_records * scale; ++number) {
    DraftBlob blob = draft.blobs[real];
    blob.raw_digest = base::digest_of(base::as_bytes(fmt::format("{}", number)));
    draft.blobs.push_back(blob);
    add_entry(draft, variant, number, static_cast<std::uint32_t>(draft.blobs.size() - 1));
  }
  variant.entries.front().blob = real;
  return write_tables(std::move(draft));
}

// Valid hidden blobs, which only verify reads.
Bytes highly_compressed_blobs(std::uint32_t scale) {
  constexpr std::size_t k_raw_bytes = 4U << 20U;
  TableDraft draft = one_entry();
  for (std::uint32_t number = 0; number < 16 * scale; ++number) {
    draft.add_compressed(zeros_of(k_raw_bytes, number));
  }
  return write_tables(std::move(draft));
}

// Small, valid payloads that are compressed against one of 32 MiB.
Bytes shared_reference(std::uint32_t scale) {
  constexpr std::size_t k_reference_bytes = 32U << 20U;
  TableDraft draft = one_entry();
  const std::uint32_t reference = draft.add_compressed(zeros_of(k_reference_bytes, 0));
  for (std::uint32_t number = 0; number < k_records / 5 * scale; ++number) {
    const std::uint32_t blob = draft.add_compressed(
        sample_ptx(k_architecture, std::string(200, ' ') + fmt::format("// {}\n", number)));
    draft.blobs[blob].reference = reference;
    add_entry(draft, draft.programs.front().variants.front(), number + 1, blob);
  }
  return write_tables(std::move(draft));
}

// ---- SOURCE --------------------------------------------------------------------------------

Bytes with_source(const format::SourcePackage& source) {
  TableDraft draft = one_entry();
  draft.programs.front().source = draft.add_compressed(format::encode_source_package(source));
  return write_tables(std::move(draft));
}

Bytes many_headers(std::uint32_t scale) {
  constexpr std::uint32_t k_headers = 400000;
  format::SourcePackage source;
  source.main = {"p.cl", "p.cl", "kernel void k() {}\n"};
  for (std::uint32_t number = 0; number < k_headers * scale; ++number) {
    source.headers.push_back({fmt::format("{:x}", number), "", ""});
  }
  return with_source(source);
}

Bytes long_source(std::uint32_t scale) {
  constexpr std::size_t k_source_bytes = 64U << 20U;
  format::SourcePackage source;
  source.main = {"p.cl", "p.cl", std::string(k_source_bytes * scale, ' ')};
  return with_source(source);
}

// Each line becomes a longer one before it reaches a driver.
Bytes closed_source(std::uint32_t scale) {
  constexpr std::size_t k_source_bytes = 5U << 20U;
  format::SourcePackage source;
  source.main = {"p.cl", "p.cl", ""};
  while (source.main.text.size() < k_source_bytes * scale) {
    source.main.text += "#include <x>\n";
  }
  return with_source(source);
}

Bytes shared_source(std::uint32_t scale) {
  constexpr std::size_t k_source_bytes = 4U << 20U;
  TableDraft draft = one_entry();
  DraftProgram& program = draft.programs.front();
  format::SourcePackage source;
  source.main = {"p.cl", "p.cl", std::string(k_source_bytes, ' ')};
  program.source = draft.add_compressed(format::encode_source_package(source));
  for (std::uint32_t number = 0; number < k_records / 5 * scale; ++number) {
    program.variants.push_back({fmt::format("v{:06}", number), "", {}});
  }
  return write_tables(std::move(draft));
}

// ---- The manifest --------------------------------------------------------------------------

// The program "p", whose manifest contains `row` after the required members of its only row.
Bytes with_row(const std::string& row) {
  TableDraft draft = one_entry();
  DraftProgram& program = draft.programs.front();
  const std::string raw_digest = format::row_digest(draft.blobs[0].raw_digest);
  format::Manifest manifest{"test", "p", {}};
  format::ManifestEntry& entry = manifest.entries.emplace_back();
  entry.raw_digest = raw_digest;
  entry.variant = "default";
  entry.options = "-DV=1";
  entry.target = draft.targets[0].target;
  const Bytes encoded = format::encode_manifest(manifest);
  std::string json(base::as_text(encoded));
  json.insert(json.find("{\"options\"") + 1, row + ",");
  program.manifest = ManifestOf::json;
  program.json = std::move(json);
  return write_tables(std::move(draft));
}

// Returns `first`, then `item` as often as it fits, separated by commas.
std::string repeated(std::string_view item, std::uint32_t scale) {
  std::string text;
  text.reserve(k_json_bytes * scale);
  while (text.size() + item.size() + 1 < k_json_bytes * scale) {
    text += text.empty() ? "" : ",";
    text += item;
  }
  return text;
}

std::string numbered(std::string_view before, std::string_view after, std::uint32_t scale) {
  std::string text;
  text.reserve(k_json_bytes * scale);
  for (std::uint32_t number = 0; text.size() + 64 < k_json_bytes * scale; ++number) {
    text += fmt::format("{}{}{:07}{}", number == 0 ? "" : ",", before, number, after);
  }
  return text;
}

constexpr std::string_view k_kernel = "{\"name\":\"k\"}";

Bytes manifest_build_log(std::uint32_t scale) {
  return with_row(fmt::format("\"build_log\":\"{}\",\"kernels\":[{}]",
                              std::string(k_json_bytes * scale, 'x'), k_kernel));
}

Bytes manifest_escapes(std::uint32_t scale) {
  std::string log;
  while (log.size() < k_json_bytes * scale) {
    log += "\\u001080";
  }
  return with_row(fmt::format("\"build_log\":\"{}\",\"kernels\":[{}]", log, k_kernel));
}

// Each byte needs six bytes in the JSON that oclcc and libclbin write.
Bytes manifest_hidden_characters(std::uint32_t scale) {
  return with_row(fmt::format("\"build_log\":\"{}\",\"kernels\":[{}]",
                              std::string(k_json_bytes * scale, '\x7f'), k_kernel));
}

Bytes manifest_kernels(std::uint32_t scale) {
  return with_row(fmt::format("\"kernels\":[{}]", numbered("{\"name\":\"", "\"}", scale)));
}

Bytes manifest_kernel_member(std::string_view member, const std::string& items) {
  return with_row(fmt::format("\"kernels\":[{{\"{}\":{},\"name\":\"k\"}}]", member, items));
}

Bytes manifest_arguments(std::uint32_t scale) {
  return manifest_kernel_member("arguments", "[" + repeated("{}", scale) + "]");
}

// The C++ names of a launcher's parameters must differ.
Bytes manifest_equal_arguments(std::uint32_t scale) {
  constexpr std::string_view k_argument = "{\"name\":\"a\",\"type_name\":\"int\"},";
  std::string arguments;
  while (arguments.size() < k_json_bytes / 16 * scale) {
    arguments += k_argument;
  }
  arguments.pop_back();
  return manifest_kernel_member("arguments", "[" + arguments + "]");
}

Bytes manifest_specialized_sizes(std::uint32_t scale) {
  return manifest_kernel_member("specialized_sizes", "[" + repeated("[1,1,1]", scale) + "]");
}

Bytes manifest_vendor(std::uint32_t scale) {
  return manifest_kernel_member("vendor", "{" + numbered("\"", "\":1", scale) + "}");
}

Bytes manifest_attributes(std::uint32_t scale) {
  return manifest_kernel_member("attributes", '"' + std::string(k_json_bytes * scale, 'x') + '"');
}

Bytes manifest_tools(std::uint32_t scale) {
  return with_row(
      fmt::format("\"kernels\":[{}],\"tools\":{{{}}}", k_kernel, numbered("\"", "\":\"\"", scale)));
}

Bytes manifest_unknown_members(std::uint32_t scale) {
  return with_row(numbered("\"", "\":0", scale));
}

Bytes manifest_unknown_values(std::uint32_t scale) {
  return with_row(fmt::format("\"ignored\":[{}],\"kernels\":[{}]", repeated("0", scale), k_kernel));
}

Bytes manifest_unknown_objects(std::uint32_t scale) {
  return with_row(
      fmt::format("\"ignored\":[{}],\"kernels\":[{}]", repeated("{\"\":{}}", scale), k_kernel));
}

Bytes manifest_depth(std::uint32_t scale) {
  return with_row(fmt::format("\"kernels\":{}", std::string(k_json_bytes * scale, '[')));
}

// The message of a parse error repeats the text.
Bytes manifest_endless_text(std::uint32_t scale) {
  TableDraft draft = one_entry();
  draft.programs.front().manifest = ManifestOf::json;
  draft.programs.front().json = '"' + std::string(k_json_bytes / 2 * scale, 'x');
  return write_tables(std::move(draft));
}

Bytes with_manifest(std::string json) {
  TableDraft draft = one_entry();
  draft.programs.front().manifest = ManifestOf::json;
  draft.programs.front().json = std::move(json);
  return write_tables(std::move(draft));
}

Bytes manifest_rows(std::uint32_t scale) {
  return with_manifest(fmt::format("{{\"entries\":[{}],\"program\":\"p\"}}",
                                   repeated("{\"raw_digest\":\"0123456789abcdef\"}", scale)));
}

Bytes manifest_versions(std::uint32_t scale) {
  return with_manifest(fmt::format(
      "{{\"entries\":[{{\"raw_digest\":\"0123456789abcdef\",\"target\":{{\"identity\":{{"
      "\"opencl_c_versions\":[{}]}}}}}}],\"program\":\"p\"}}",
      repeated("\"\"", scale)));
}

Bytes manifest_top_members(std::uint32_t scale) {
  return with_manifest(fmt::format("{{{},\"program\":\"p\"}}", numbered("\"", "\":[]", scale)));
}

// Manifests of 1 MiB each, compressed to about 100 bytes.
Bytes many_manifests(std::uint32_t scale) {
  TableDraft draft = one_entry();
  for (std::uint32_t number = 0; number < 16 * scale; ++number) {
    DraftProgram program;
    program.name = fmt::format("q{:06}", number);
    program.variants.emplace_back();
    program.manifest = ManifestOf::json;
    program.json = fmt::format("{{\"entries\":[],\"producer\":\"{}\",\"program\":\"{}\"}}",
                               std::string(k_long_bytes, 'x'), program.name);
    draft.programs.push_back(std::move(program));
  }
  return write_tables(std::move(draft));
}

Bytes shared_manifest(std::uint32_t scale) {
  TableDraft draft = one_entry();
  DraftProgram program;
  program.name = "q";
  program.manifest = ManifestOf::json;
  program.json = fmt::format("{{\"entries\":[],\"producer\":\"{}\",\"program\":\"q\"}}",
                             std::string(k_json_bytes, 'x'));
  for (std::uint32_t number = 0; number < k_records * scale; ++number) {
    program.variants.push_back({fmt::format("v{:06}", number), "", {}});
  }
  draft.programs.push_back(std::move(program));
  return write_tables(std::move(draft));
}

// A second program with this manifest, which a merge keeps.
Bytes with_manifest_of_q(std::string json) {
  TableDraft draft = one_entry();
  DraftProgram program;
  program.name = "q";
  program.variants.push_back({"default", "", {}});
  program.manifest = ManifestOf::json;
  program.json = std::move(json);
  draft.programs.push_back(std::move(program));
  return write_tables(std::move(draft));
}

// The least that different measurements need.
Bytes manifest_measurements(std::uint32_t scale) {
  return with_manifest_of_q(
      fmt::format("{{\"entries\":[],\"measurements\":[{}],\"program\":\"q\"}}",
                  numbered("{\"dimensions\":1,\"global_size\":[1,1,1],\"median_ns\":1,\"rounds\":1,"
                           "\"variant\":\"default\",\"kernel\":\"",
                           "\"}", scale)));
}

// Measurements that the tables rank, each of a device of its own.
Bytes ranked_measurements(std::uint32_t scale) {
  constexpr std::uint32_t k_measurements = 5000;
  format::BundleInput input;
  format::ProgramInput& program = input.programs.emplace_back();
  program.name = "p";
  program.variants = {{"default", "-DV=1"}};
  format::EntryInput& entry = program.entries.emplace_back();
  entry.variant = "default";
  entry.target.identity = amplified_device();
  entry.options = "-DV=1";
  entry.kernels.emplace_back().name = "k";
  entry.payload = sample_ptx(k_architecture, "//");
  for (std::uint32_t number = 0; number < k_measurements * scale; ++number) {
    program.measurements.push_back(
        sample_measurement("default", fmt::format("device {:06}", number), 1));
  }
  return must_write(input);
}

// A launch that was recorded with as many arguments as fit.
Bytes manifest_recorded_answers(std::uint32_t scale) {
  return with_manifest_of_q(fmt::format(
      "{{\"entries\":[],\"program\":\"q\",\"recorded_answers\":[{{\"arguments\":[{},"
      "{{\"count\":4,\"digest\":\"{}\",\"fill\":\"stored\",\"kind\":\"buffer\"}}],"
      "\"dimensions\":1,\"global_size\":[1,1,1],\"kernel\":\"k\",\"variant\":\"default\"}}]}}",
      repeated("{}", scale), std::string(64, '0')));
}

// Entries that all refer to the first row, which has many kernels.
Bytes shared_manifest_row(std::uint32_t scale) {
  TableDraft draft = many_entries(k_records * scale);
  DraftProgram& program = draft.programs.front();
  draft.long_texts.emplace(k_kernels, many_kernel_names());
  for (DraftEntry& entry : program.variants.front().entries) {
    entry.kernels = k_kernels;
  }
  program.manifest = ManifestOf::json;
  format::Manifest manifest{"test", "p", {}};
  format::ManifestEntry& row = manifest.entries.emplace_back();
  row.raw_digest = format::row_digest(draft.blobs[0].raw_digest);
  row.variant = "default";
  row.options = "-DV=1";
  row.target = draft.targets[0].target;
  const std::string names = many_kernel_names();
  for (std::size_t start = 0; start < names.size(); start += 7) {
    row.kernels.emplace_back().name = names.substr(start, 6);
  }
  const Bytes json = format::encode_manifest(manifest);
  program.json = std::string(base::as_text(json));
  CraftedBundle bundle(write_tables(std::move(draft)));
  const base::Digest digest = format::identity_digest(amplified_device());
  std::uint32_t own = 0;
  while (bundle.u64_at(SectionKind::target, own, k_target_digest) != base::leading_u64(digest)) {
    ++own;
  }
  for (std::uint32_t entry = 0; entry < k_records * scale; ++entry) {
    bundle.set_u32(SectionKind::entry, entry, k_entry_target, own);
    bundle.set_u32(SectionKind::entry, entry, k_entry_manifest_row, 0);
  }
  return bundle.build();
}

// Strings, lists of names and a manifest in one bundle, each at its limit.
Bytes names_and_manifest(std::uint32_t scale) {
  TableDraft draft = many_short_kernel_names(64 * scale, "__");
  DraftProgram program;
  program.name = "q";
  program.variants.emplace_back();
  program.manifest = ManifestOf::json;
  program.json = fmt::format("{{\"entries\":[{{\"kernels\":[{}]}}],\"program\":\"q\"}}",
                             numbered("{\"name\":\"", "\"}", scale));
  draft.programs.push_back(std::move(program));
  return write_tables(std::move(draft));
}

constexpr std::array k_kinds{
    AmplifyingKind{"long_program_name", long_program_name},
    AmplifyingKind{"long_variant_name", long_variant_name},
    AmplifyingKind{"long_variant_options", long_variant_options},
    AmplifyingKind{"many_short_names", many_short_names},
    AmplifyingKind{"equal_name_hashes", equal_name_hashes},
    AmplifyingKind{"equal_groups", equal_groups},
    AmplifyingKind{"long_platform_name", long_target_text<&DraftTarget::platform_name>},
    AmplifyingKind{"long_device_name", long_target_text<&DraftTarget::device_name>},
    AmplifyingKind{"long_driver_version", long_target_text<&DraftTarget::driver_version>},
    AmplifyingKind{"long_spec", long_target_text<&DraftTarget::spec>},
    AmplifyingKind{"target_unlike_manifest", target_unlike_manifest},
    AmplifyingKind{"equal_targets", equal_targets},
    AmplifyingKind{"long_entry_options", long_entry_options},
    AmplifyingKind{"long_extension_name", long_extension_name},
    AmplifyingKind{"many_extensions", many_extensions},
    AmplifyingKind{"many_kernels", many_kernels},
    AmplifyingKind{"short_kernel_names", short_kernel_names},
    AmplifyingKind{"nameless_kernels", nameless_kernels},
    AmplifyingKind{"equal_exact_rows", equal_exact_rows},
    AmplifyingKind{"equal_entry_targets", equal_entry_targets},
    AmplifyingKind{"many_candidates", many_candidates},
    AmplifyingKind{"candidates_with_long_options", candidates_with_long_options},
    AmplifyingKind{"overlapping_program_names", overlapping_program_names},
    AmplifyingKind{"overlapping_variant_options", overlapping_variant_options},
    AmplifyingKind{"overlapping_device_names", overlapping_device_names},
    AmplifyingKind{"overlapping_kernels", overlapping_kernels},
    AmplifyingKind{"overlapping_entry_options", overlapping_entry_options},
    AmplifyingKind{"blobs_of_one_frame", blobs_of_one_frame},
    AmplifyingKind{"highly_compressed_blobs", highly_compressed_blobs},
    AmplifyingKind{"shared_reference", shared_reference},
    AmplifyingKind{"many_headers", many_headers},
    AmplifyingKind{"long_source", long_source},
    AmplifyingKind{"closed_source", closed_source},
    AmplifyingKind{"shared_source", shared_source},
    AmplifyingKind{"manifest_build_log", manifest_build_log},
    AmplifyingKind{"manifest_escapes", manifest_escapes},
    AmplifyingKind{"manifest_hidden_characters", manifest_hidden_characters},
    AmplifyingKind{"manifest_kernels", manifest_kernels},
    AmplifyingKind{"manifest_arguments", manifest_arguments},
    AmplifyingKind{"manifest_equal_arguments", manifest_equal_arguments},
    AmplifyingKind{"manifest_specialized_sizes", manifest_specialized_sizes},
    AmplifyingKind{"manifest_vendor", manifest_vendor},
    AmplifyingKind{"manifest_attributes", manifest_attributes},
    AmplifyingKind{"manifest_tools", manifest_tools},
    AmplifyingKind{"manifest_unknown_members", manifest_unknown_members},
    AmplifyingKind{"manifest_unknown_values", manifest_unknown_values},
    AmplifyingKind{"manifest_unknown_objects", manifest_unknown_objects},
    AmplifyingKind{"manifest_depth", manifest_depth},
    AmplifyingKind{"manifest_rows", manifest_rows},
    AmplifyingKind{"manifest_versions", manifest_versions},
    AmplifyingKind{"manifest_top_members", manifest_top_members},
    AmplifyingKind{"manifest_endless_text", manifest_endless_text},
    AmplifyingKind{"many_manifests", many_manifests},
    AmplifyingKind{"shared_manifest", shared_manifest},
    AmplifyingKind{"shared_manifest_row", shared_manifest_row},
    AmplifyingKind{"names_and_manifest", names_and_manifest},
    AmplifyingKind{"manifest_measurements", manifest_measurements},
    AmplifyingKind{"ranked_measurements", ranked_measurements},
    AmplifyingKind{"manifest_recorded_answers", manifest_recorded_answers},
};

} // namespace

std::span<const AmplifyingKind> amplifying_kinds() {
  return k_kinds;
}

format::DeviceIdentity amplified_device() {
  return nvidia_identity("sm_90");
}

} // namespace clbin::test
