// --extract and --disassemble: what is in bundles, as files and as text.
#include "command_line/modes.hpp"

#include "format/bundle/bundle_surgery.hpp"
#include "modes/containers.hpp"
#include "modes/extracted_names.hpp"
#include "source/directive_scanner.hpp"
#include "targets/binary_entry.hpp"
#include "targets/disassembler.hpp"
#include "targets/offline_compiler.hpp"
#include "targets/patterns.hpp"
#include "terminal/terminal_text.hpp"
#include "trust/bundle_encryption.hpp"
#include "trust/key_files.hpp"

#include <fmt/format.h>
#include <tuple>

namespace oclcc {

// ---- Names -------------------------------------------------------------------------------------

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

namespace {

// One file to be written.
struct Item {
  std::filesystem::path name;              // below the folder
  EntryPlace place;                        // of a source: only the program
  std::uint32_t blob = format::k_no_index; // of an entry
  std::string text{};                      // of a source

  [[nodiscard]] bool is_entry() const noexcept { return blob != format::k_no_index; }
};

Result<std::vector<format::GroupView>> groups_of(const format::BundleReader& bundle) {
  std::vector<format::GroupView> groups;
  format::TextBudget budget(bundle.total_bytes());
  for (std::uint32_t i = 0; i < bundle.group_count(); ++i) {
    CLBIN_TRY_ASSIGN(format::GroupView group, bundle.group(i));
    CLBIN_TRY(budget.take(group));
    groups.push_back(std::move(group));
  }
  std::ranges::sort(groups, [](const auto& a, const auto& b) {
    return std::tie(a.program, a.variant) < std::tie(b.program, b.variant);
  });
  return groups;
}

Result<void> require_names(const std::vector<std::string>& wanted,
                           const std::set<std::string>& known, ErrorCode code,
                           std::string_view what) {
  for (const std::string& name : wanted) {
    if (!known.contains(name)) {
      return fail(code, "there is no {} '{}'; there are {}", what, name,
                  known.empty() ? "none" : fmt::format("'{}'", fmt::join(known, "', '")));
    }
  }
  return {};
}

// Checks that every selected name exists.
Result<void> check_names(const std::vector<format::GroupView>& groups, const Options& options) {
  std::set<std::string> programs;
  std::set<std::string> variants; // of the selected programs
  for (const format::GroupView& group : groups) {
    programs.insert(group.program);
    if (is_wanted(options.wanted_programs, group.program)) {
      variants.insert(group.variant);
    }
  }
  CLBIN_TRY(
      require_names(options.wanted_programs, programs, ErrorCode::no_such_program, "program"));
  return require_names(options.wanted_variants, variants, ErrorCode::no_such_variant, "variant");
}

// Names the entries of the whole bundle, so that a name does not depend on the selection.
Result<std::vector<Item>> entry_items(const format::BundleReader& bundle,
                                      const std::vector<format::GroupView>& groups) {
  std::vector<Item> items;
  std::vector<EntryPlace> places;
  format::TextBudget budget(bundle.total_bytes());
  for (const format::GroupView& group : groups) {
    for (std::uint32_t i = 0; i < group.entry_count; ++i) {
      CLBIN_TRY_ASSIGN(const format::EntryView entry, bundle.entry(group.first_entry + i, group));
      CLBIN_TRY(budget.take(group)); // its names are copied for each entry
      CLBIN_TRY(budget.take(entry));
      places.push_back({group.program, group.variant, entry.target, entry.kind});
      items.push_back({{}, places.back(), entry.blob});
    }
  }
  const std::vector<std::string> names = entry_file_names(places);
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].name = names[i];
  }
  return items;
}

// "PROGRAM.source/NAME". The format checks the names of headers, but not of the main file, which is
// renamed on a conflict.
Result<void> add_source(const format::BundleReader& bundle, const format::GroupView& group,
                        std::set<std::string>& folders, std::vector<Item>& items) {
  CLBIN_TRY_ASSIGN(format::SourcePackage source, bundle.read_source(group));
  std::string folder = file_name_part(group.program) + ".source";
  if (!folders.insert(folder).second) {
    folder = fmt::format("{}.{:.16}.source", file_name_part(group.program),
                         base::to_hex(base::digest_of(base::as_bytes(group.program))));
  }
  std::string main_name = file_name_part(source.main.include_name);
  const auto is_taken = [&](const std::string& name) {
    return std::ranges::any_of(source.headers, [&](const format::SourceFile& header) {
      return header.include_name == name || header.include_name.starts_with(name + "/");
    });
  };
  while (is_taken(main_name)) {
    main_name.insert(0, "main_");
  }
  source.main.include_name = std::move(main_name);
  source.headers.insert(source.headers.begin(), std::move(source.main));
  for (format::SourceFile& file : source.headers) {
    items.push_back({std::filesystem::path(folder) / file.include_name,
                     {.program = group.program},
                     format::k_no_index,
                     std::move(file.text)});
  }
  return {};
}

Result<std::vector<Item>> source_items(const format::BundleReader& bundle,
                                       const std::vector<format::GroupView>& groups,
                                       const Options& options) {
  std::vector<Item> items;
  std::set<std::string> programs;
  std::set<std::string> folders;
  const std::uint64_t limit = format::held_bytes_limit(bundle.total_bytes());
  std::uint64_t bytes = 0; // of all sources, which stay in memory until they are written
  for (const format::GroupView& group : groups) {
    if (group.source_blob != format::k_no_index &&
        is_wanted(options.wanted_programs, group.program) &&
        programs.insert(group.program).second) {
      CLBIN_TRY_ASSIGN(const format::BlobView blob, bundle.blob(group.source_blob));
      if (bytes != 0 && blob.raw_bytes > limit - std::min(limit, bytes)) { // the reader limits each
        return fail(ErrorCode::limit_exceeded,
                    "its sources exceed {} bytes: select programs with '--program'", limit);
      }
      bytes += blob.raw_bytes;
      CLBIN_TRY(add_source(bundle, group, folders, items));
    }
  }
  return items;
}

enum class Sources : std::uint8_t { with, without };

Result<std::vector<Item>> choose_items(const format::BundleReader& bundle, const Options& options,
                                       Sources sources) {
  CLBIN_TRY_ASSIGN(const auto groups, groups_of(bundle));
  CLBIN_TRY(check_names(groups, options));
  CLBIN_TRY_ASSIGN(std::vector<Item> items, entry_items(bundle, groups));
  const TargetChoice choice{options.keep_targets, options.drop_targets};
  std::erase_if(items, [&](const Item& item) {
    return !is_wanted(options.wanted_programs, item.place.program) ||
           !is_wanted(options.wanted_variants, item.place.variant) ||
           !is_chosen(item.place.target, choice);
  });
  const bool all_of_a_program =
      options.wanted_variants.empty() && choice.keep.empty() && choice.drop.empty();
  if (all_of_a_program && sources == Sources::with) {
    CLBIN_TRY_ASSIGN(std::vector<Item> files, source_items(bundle, groups, options));
    std::move(files.begin(), files.end(), std::back_inserter(items));
  }
  if (items.empty()) {
    CLBIN_TRY_ASSIGN(const std::string targets, list_targets(bundle));
    return fail(ErrorCode::no_matching_entry, "no entry matches; it contains entries for {}",
                targets);
  }
  return items;
}

Result<Bytes> bytes_of(format::ProvedBlobs& blobs, const Item& item) {
  if (!item.is_entry()) {
    const auto view = base::as_bytes(item.text);
    return Bytes(view.begin(), view.end());
  }
  CLBIN_TRY_ASSIGN(Bytes bytes, blobs.read(item.blob));
  offline::remove_final_nul(item.place.kind, bytes);
  return bytes;
}

Result<void> make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder)) {
    return fail(ErrorCode::file_write, "cannot write into '{}': {}", folder.string(),
                error ? error.message() : "it is not a directory");
  }
  return {};
}

// What --json reports of a file.
struct WrittenFile {
  std::string bundle;
  std::string file;
  std::uint64_t bytes = 0;
  EntryPlace place;
  bool is_entry = false; // otherwise a source
};

JsonValue file_json(const WrittenFile& file) {
  const EntryPlace& place = file.place;
  return {JsonObject{
      {"bundle", {file.bundle}},
      {"file", {file.file}},
      {"bytes", {file.bytes}},
      {"program", {place.program}},
      {"variant", file.is_entry ? JsonValue{place.variant} : JsonValue{nullptr}},
      {"target", file.is_entry ? JsonValue{target_name(place.target)} : JsonValue{nullptr}},
      {"kind", {file.is_entry ? std::string(format::to_string(place.kind)) : "source"}},
  }};
}

struct Written {
  std::map<std::filesystem::path, std::size_t> files; // and the number of the bundle
  std::size_t bundle = 0;
  std::vector<WrittenFile> for_json;
};

bool print_json(const Written& written, const std::vector<Error>& errors, Reporter& reporter) {
  return reporter.print(report_json(
      {{"errors", errors_json(errors)}, {"files", {array_of(written.for_json, file_json)}}}));
}

// Ensures that no two files of this run have one name.
Result<void> claim(const std::filesystem::path& file, Written& written) {
  const auto [there, is_new] = written.files.emplace(file, written.bundle);
  if (is_new) {
    return {};
  }
  if (there->second == written.bundle) {
    return fail(ErrorCode::damaged, "two of its entries or sources are '{}'", file.string());
  }
  return refused("'{}' was already extracted from another bundle: extract each bundle to a "
                 "separate directory",
                 file.string());
}

Result<void> extract_one(const std::filesystem::path& path, const Options& options,
                         const BundleKeys& keys, Written& written, Reporter& reporter) {
  CLBIN_TRY_ASSIGN(const format::BundleReader bundle, open_readable_bundle(path, keys));
  const std::filesystem::path output = options.output.value_or(".");
  CLBIN_TRY_ASSIGN(const std::vector<Item> items,
                   choose_items(bundle, options, output == "-" ? Sources::without : Sources::with));
  if (output == "-" && items.size() != 1) {
    return refused("standard output accepts one device binary, but {} are selected", items.size());
  }
  format::ProvedBlobs blobs(bundle);
  ++written.bundle;
  for (const Item& item : items) {
    CLBIN_TRY_ASSIGN(const Bytes bytes, bytes_of(blobs, item));
    std::filesystem::path file = output;
    if (output != "-") {
      file = (options.output ? output / item.name : item.name);
      file += item.is_entry() ? binary_suffix(item.place.kind, bytes) : std::string_view();
      CLBIN_TRY(make_folder(file.has_parent_path() ? file.parent_path() : "."));
    }
    CLBIN_TRY(claim(file, written));
    CLBIN_TRY(require_other_files({&file, 1}, trust::files_of_keys(options)));
    CLBIN_TRY(base::write_output_file(file, bytes));
    reporter.verbose(file.string());
    if (options.list_format == ListFormat::json) {
      written.for_json.push_back(
          {bundle.name(), file.string(), bytes.size(), item.place, item.is_entry()});
    }
  }
  return {};
}

// ---- --disassemble -----------------------------------------------------------------------------

// "'blur' (default) for 'nvptx:sm_70'"
std::string shown(const Item& item) {
  const EntryPlace& place = item.place;
  return fmt::format("'{}' ({}) for {}", std::string_view(place.program),
                     std::string_view(place.variant), target_name(place.target));
}

Result<Bytes> binary_in(const format::BundleReader& bundle, const Options& options) {
  CLBIN_TRY(require_contents(bundle));
  CLBIN_TRY_ASSIGN(const auto items, choose_items(bundle, options, Sources::without));
  if (items.size() != 1) {
    return refused("it contains {} binaries that match, such as {} and {}; select one with "
                   "'--program', '--variant' and '--keep-target'",
                   items.size(), shown(items[0]), shown(items[1]));
  }
  format::ProvedBlobs blobs(bundle);
  return bytes_of(blobs, items.front());
}

Result<Bytes> binary_in(Bytes file) {
  CLBIN_TRY_ASSIGN(const Container container, open_container(std::move(file)));
  if (container.binaries.size() != 1) {
    return refused("it contains {} binaries; put them into a bundle with '--import'",
                   container.binaries.size());
  }
  const base::ByteView bytes = container.binaries.front().bytes;
  return Bytes(bytes.begin(), bytes.end());
}

Result<std::string> disassembly(const std::filesystem::path& path, const Options& options,
                                const ModeContext& context) {
  CLBIN_TRY(offline::require_known_tools(options.tools));
  CLBIN_TRY_ASSIGN(const auto workers, worker::with_home(context.workers));
  CLBIN_TRY_ASSIGN(const auto keys, trust::read_decryption_keys(options, context.reporter));
  CLBIN_TRY_ASSIGN(BundleOrBytes file, open_bundle_or_read(path, keys));
  Bytes* const bytes = std::get_if<Bytes>(&file);
  CLBIN_TRY_ASSIGN(const Bytes binary,
                   bytes != nullptr ? binary_in(std::move(*bytes))
                                    : binary_in(std::get<format::BundleReader>(file), options));
  const std::string kernel = options.wanted_kernels.empty() ? "" : options.wanted_kernels.front();
  return offline::disassemble(binary, kernel, options.tools, workers,
                              std::chrono::seconds(options.timeout_seconds));
}

} // namespace

Result<ExitCode> disassemble(const Options& options, const ModeContext& context) {
  const std::filesystem::path& path = options.inputs.front().path;
  CLBIN_TRY(require_other_files(
      std::span(options.output ? &*options.output : nullptr, options.output ? 1U : 0U), {path}));
  CLBIN_TRY_ASSIGN(const std::string text, named(disassembly(path, options, context), path));
  if (options.output && *options.output != "-") {
    CLBIN_TRY(base::write_output_file(*options.output, base::as_bytes(text)));
    return ExitCode::success;
  }
  return print_result(printable_lines(text), context.reporter);
}

Result<ExitCode> extract(const Options& options, const ModeContext& context) {
  Reporter& reporter = context.reporter;
  const bool to_stdout = options.output == "-";
  if (to_stdout && (options.list_format == ListFormat::json || options.inputs.size() > 1)) {
    return refused("{}",
                   options.inputs.size() > 1
                       ? "standard output accepts one device binary, but there are several bundles"
                       : "'--json' and '-o -' would both write to standard output");
  }
  Written written;
  std::vector<Error> errors;
  const auto keys = trust::read_decryption_keys(options, reporter);
  if (!keys) {
    errors.push_back(keys.error());
  }
  for (const Input& input : options.inputs) {
    auto done = keys ? extract_one(input.path, options, *keys, written, reporter) : Result<void>();
    if (!done) {
      errors.push_back(named_error(std::move(done.error()), input.path));
    }
  }
  if (options.list_format == ListFormat::json && !print_json(written, errors, reporter)) {
    return ExitCode::file;
  }
  return report_errors(errors, reporter);
}

} // namespace oclcc
