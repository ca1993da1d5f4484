// --provenance and --sbom: what a bundle was made of, for programs that check supply chains. Both
// documents contain no time and no random number, so that one bundle has one document.
#include "command_line/modes.hpp"

#include "modes/bundle_summary.hpp"
#include "modes/extracted_names.hpp"
#include "targets/binary_entry.hpp"
#include "targets/tools.hpp"
#include "terminal/terminal_text.hpp"
#include "trust/bundle_encryption.hpp"
#include "trust/key_files.hpp"

#include <fmt/format.h>

namespace oclcc {

namespace {

// A file, by its SHA-256.
struct HashedFile {
  std::string name;
  std::string sha256;
};

// A program that took part, "clang" "15.0.6", or a driver.
struct Tool {
  std::string name;
  std::string version;
  std::string build_id{}; // empty if it is not known
  friend auto operator<=>(const Tool&, const Tool&) = default;
};

struct Binary {
  HashedFile file; // named as --extract names it
  std::string program;
  std::string variant;
  std::string target;
  std::string options;
  std::vector<Tool> tools;
};

struct Materials {
  HashedFile bundle;
  std::vector<Binary> binaries;
  std::map<std::string, std::vector<HashedFile>> sources; // by program
  std::set<Tool> tools;
};

HashedFile hashed(std::string name, base::ByteView bytes) {
  return {std::move(name), base::to_hex(base::sha256_of(bytes))};
}

std::vector<Tool> tools_of(const EntrySummary& entry) {
  const std::map<std::string, std::string>& recorded = entry.details->tools;
  std::vector<Tool> tools;
  for (const auto& [name, version] : recorded) {
    if (!name.ends_with(offline::k_build_id_suffix)) {
      const auto build_id = recorded.find(name + std::string(offline::k_build_id_suffix));
      tools.push_back({name, version, build_id == recorded.end() ? "" : build_id->second});
    }
  }
  const format::DeviceIdentity& device = entry.details->target.identity;
  if (!device.driver_version.empty()) {
    tools.push_back(
        {fmt::format("{} {}", device.platform_name, device.device_name), device.driver_version});
  }
  return tools;
}

Result<void> add_binaries(const format::BundleReader& reader, const BundleSummary& summary,
                          Materials& materials) {
  std::vector<EntryPlace> places;
  std::vector<const EntrySummary*> entries;
  format::TextBudget budget(reader.total_bytes());
  for (const GroupSummary& group : summary.groups) {
    for (const EntrySummary& entry : group.entries) {
      CLBIN_TRY(budget.take(group.group)); // its names are copied for each entry
      CLBIN_TRY(budget.take(entry.entry));
      places.push_back(
          {group.group.program, group.group.variant, entry.entry.target, entry.entry.kind});
      entries.push_back(&entry);
    }
  }
  const std::vector<std::string> names = entry_file_names(places);
  format::ProvedBlobs blobs(reader);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const EntrySummary& entry = *entries[i];
    CLBIN_TRY_ASSIGN(base::Bytes bytes, blobs.read(entry.entry.blob));
    offline::remove_final_nul(entry.entry.kind, bytes);
    Binary binary;
    binary.file = hashed(names[i] + std::string(binary_suffix(entry.entry.kind, bytes)), bytes);
    binary.program = places[i].program.str();
    binary.variant = places[i].variant.str();
    binary.target = target_text(entry.details->target);
    binary.options = entry.details->options;
    binary.tools = tools_of(entry);
    materials.tools.insert(binary.tools.begin(), binary.tools.end());
    materials.binaries.push_back(std::move(binary));
  }
  return {};
}

Result<void> add_sources(const format::BundleReader& reader, const BundleSummary& summary,
                         Materials& materials) {
  const std::uint64_t limit = format::held_bytes_limit(reader.total_bytes());
  std::uint64_t bytes = 0; // of all sources, which may be one
  for (const GroupSummary& group : summary.groups) {
    const std::string program(group.group.program.str());
    if (group.group.source_blob == format::k_no_index || materials.sources.contains(program)) {
      continue;
    }
    CLBIN_TRY_ASSIGN(const format::BlobView blob, reader.blob(group.group.source_blob));
    bytes += blob.raw_bytes; // the reader limits each
    if (bytes > limit && !materials.sources.empty()) {
      return fail(ErrorCode::limit_exceeded, "its sources exceed {} bytes", limit);
    }
    CLBIN_TRY_ASSIGN(const format::SourcePackage source, reader.read_source(group.group));
    std::vector<HashedFile>& files = materials.sources[program];
    files.push_back(hashed(source.main.include_name, base::as_bytes(source.main.text)));
    for (const format::SourceFile& header : source.headers) {
      files.push_back(hashed(header.include_name, base::as_bytes(header.text)));
    }
  }
  return {};
}

// Reads all of a bundle, which must be valid.
Result<Materials> read_materials(const std::filesystem::path& path, const BundleKeys& keys) {
  CLBIN_TRY_ASSIGN(const ValidBundle valid, read_valid_bundle(path, keys));
  CLBIN_TRY_ASSIGN(auto reader, format::BundleReader::open(base::memory_source(valid.bytes), {},
                                                           format::TrailingBytes::refuse));
  CLBIN_TRY(keys.unlock(reader));
  CLBIN_TRY(require_contents(reader));
  const BundleSummary summary =
      clbin::listing::summarize(reader, clbin::listing::ErrorList(bundle_name(path)));
  if (!summary.errors.empty()) {
    return tl::unexpected(summary.errors.front());
  }
  Materials materials;
  materials.bundle = hashed(path.filename().string(), valid.bytes);
  CLBIN_TRY(add_binaries(reader, summary, materials));
  CLBIN_TRY(add_sources(reader, summary, materials));
  return materials;
}

// "pkg:generic/clang@15.0.6?build_id=740e…" (package-url)
std::string package_url(const Tool& tool) {
  const auto encoded = [](std::string_view text) {
    std::string result;
    for (const char character : text) {
      const bool is_plain = std::isalnum(static_cast<unsigned char>(character)) != 0 ||
                            std::string_view("-._~").find(character) != std::string_view::npos;
      result += is_plain ? std::string(1, character)
                         : fmt::format("%{:02X}", static_cast<unsigned char>(character));
    }
    return result;
  };
  return fmt::format("pkg:generic/{}@{}{}{}", encoded(tool.name), encoded(tool.version),
                     tool.build_id.empty() ? "" : "?build_id=", encoded(tool.build_id));
}

std::string source_name(const std::string& program, const HashedFile& file) {
  return fmt::format("{}/{}", program, file.name);
}

// ---- in-toto Statement v1 with a predicate of SLSA provenance v1 --------------------------------

JsonValue descriptor(const std::string& name, const HashedFile& file) {
  return {JsonObject{{"digest", {JsonObject{{"sha256", {file.sha256}}}}}, {"name", {name}}}};
}

JsonArray dependencies(const Materials& materials) {
  JsonArray all;
  for (const auto& [program, files] : materials.sources) {
    for (const HashedFile& file : files) {
      all.push_back(descriptor(source_name(program, file), file));
    }
  }
  for (const Tool& tool : materials.tools) {
    all.push_back({JsonObject{{"name", {tool.name}}, {"uri", {package_url(tool)}}}});
  }
  return all;
}

JsonValue statement(const Materials& materials) {
  JsonArray subjects = {descriptor(materials.bundle.name, materials.bundle)};
  JsonArray units;
  for (const Binary& binary : materials.binaries) {
    subjects.push_back(descriptor(binary.file.name, binary.file));
    units.push_back({JsonObject{{"options", {binary.options}},
                                {"program", {binary.program}},
                                {"target", {binary.target}},
                                {"variant", {binary.variant}}}});
  }
  const JsonObject definition{{"buildType", {"urn:oclcc:bundle:1"}},
                              {"externalParameters", {JsonObject{{"units", {std::move(units)}}}}},
                              {"resolvedDependencies", {dependencies(materials)}}};
  const JsonObject run{{"builder", {JsonObject{{"id", {"urn:oclcc"}}}}}};
  return {JsonObject{
      {"_type", {"https://in-toto.io/Statement/v1"}},
      {"predicate", {JsonObject{{"buildDefinition", {definition}}, {"runDetails", {run}}}}},
      {"predicateType", {"https://slsa.dev/provenance/v1"}},
      {"subject", {std::move(subjects)}}}};
}

// ---- CycloneDX 1.5 ------------------------------------------------------------------------------

JsonObject file_component(const std::string& reference, const HashedFile& file) {
  const JsonObject hash{{"alg", {"SHA-256"}}, {"content", {file.sha256}}};
  return {{"bom-ref", {reference}},
          {"hashes", {JsonArray{{hash}}}},
          {"name", {file.name}},
          {"type", {"file"}}};
}

// Every reference occurs once.
std::string binary_reference(const Binary& binary) {
  return "binary:" + binary.file.name;
}

JsonValue relation(const std::string& reference, JsonArray depends_on) {
  return {JsonObject{{"dependsOn", {std::move(depends_on)}}, {"ref", {reference}}}};
}

JsonValue bill_of_materials(const Materials& materials) {
  const std::string bundle = "bundle:" + materials.bundle.name;
  JsonArray components;
  JsonArray relations;
  JsonArray all_binaries;
  std::map<std::string, JsonArray> sources_of;
  for (const auto& [program, files] : materials.sources) {
    for (const HashedFile& file : files) {
      const std::string reference = "source:" + source_name(program, file);
      components.push_back({file_component(reference, file)});
      sources_of[program].push_back({reference});
    }
  }
  for (const Tool& tool : materials.tools) {
    components.push_back({JsonObject{{"bom-ref", {package_url(tool)}},
                                     {"name", {tool.name}},
                                     {"purl", {package_url(tool)}},
                                     {"type", {"application"}},
                                     {"version", {tool.version}}}});
  }
  for (const Binary& binary : materials.binaries) {
    components.push_back({file_component(binary_reference(binary), binary.file)});
    all_binaries.push_back({binary_reference(binary)});
    JsonArray depends_on = sources_of[binary.program];
    for (const Tool& tool : binary.tools) {
      depends_on.push_back({package_url(tool)});
    }
    relations.push_back(relation(binary_reference(binary), std::move(depends_on)));
  }
  relations.push_back(relation(bundle, std::move(all_binaries)));
  const JsonObject metadata{{"component", {file_component(bundle, materials.bundle)}}};
  return {JsonObject{{"bomFormat", {"CycloneDX"}},
                     {"components", {std::move(components)}},
                     {"dependencies", {std::move(relations)}},
                     {"metadata", {metadata}},
                     {"specVersion", {"1.5"}},
                     {"version", {std::uint64_t{1}}}}};
}

// Writes the document that `make` makes of the one bundle.
Result<ExitCode> describe_materials(const Options& options, const ModeContext& context,
                                    JsonValue (*make)(const Materials& materials)) {
  const std::filesystem::path& path = options.inputs.front().path;
  const std::filesystem::path output = options.output.value_or("-");
  CLBIN_TRY(require_other_files({&output, 1}, {path}));
  CLBIN_TRY(require_other_files({&output, 1}, trust::files_of_keys(options)));
  CLBIN_TRY_ASSIGN(const BundleKeys keys, trust::read_decryption_keys(options, context.reporter));
  CLBIN_TRY_ASSIGN(const Materials materials, named(read_materials(path, keys), path));
  const std::string text = write_json(make(materials), base::JsonLayout::indented);
  if (output == "-") {
    return print_result(printable_json(text), context.reporter);
  }
  CLBIN_TRY(base::write_output_file(output, base::as_bytes(text)));
  return ExitCode::success;
}

} // namespace

Result<ExitCode> provenance(const Options& options, const ModeContext& context) {
  return describe_materials(options, context, statement);
}

Result<ExitCode> sbom(const Options& options, const ModeContext& context) {
  return describe_materials(options, context, bill_of_materials);
}

} // namespace oclcc
