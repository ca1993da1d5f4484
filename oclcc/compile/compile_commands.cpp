// compile_commands.json: how clang alone would compile the sources of a command, for clangd and
// other programs that understand code.
#include "base/system/folder.hpp"
#include "base/system/process.hpp"
#include "compile/output_plan.hpp"

#include "base/json_document.hpp"
#include "targets/offline_target.hpp"

namespace oclcc {

namespace {

namespace fs = std::filesystem;
using base::JsonArray;
using base::JsonObject;
using base::JsonValue;
using offline::OfflineFamily;

// clang's own driver declares the built-in functions of OpenCL C. Without a target, the code is for
// devices whose compiler is not clang, or another one: SPIR has every extension.
std::vector<std::string> target_words(const std::optional<offline::OfflineTarget>& target) {
  if (!target) {
    return {"--target=spir64-unknown-unknown"};
  }
  const bool is_32 = target->address_bits == 32;
  switch (target->family) {
  case OfflineFamily::nvptx:
  case OfflineFamily::cubin:
    return {is_32 ? "--target=nvptx-nvidia-nvcl" : "--target=nvptx64-nvidia-nvcl"};
  case OfflineFamily::amdgcn:
    return {"--target=amdgcn-amd-amdhsa", "-mcpu=" + target->architecture, "-nogpulib"};
  case OfflineFamily::intel:
  case OfflineFamily::spirv:
    break;
  }
  return {is_32 ? "--target=spir-unknown-unknown" : "--target=spir64-unknown-unknown"};
}

// Appends the options that clang has, too: those of vendors are not.
void append_options(const std::vector<std::string>& options, std::vector<std::string>& words) {
  constexpr std::string_view k_of_vendors[] = {"-cl-nv-", "-cl-intel-", "-cl-amd-", "-cl-qcom-"};
  for (const std::string& option : options) {
    const auto begins = [&](std::string_view other) { return option.starts_with(other); };
    if (option == "-cl-std=CL3.1") { // which clang does not know before release 23
      words.emplace_back("-cl-std=CL3.0");
    } else if (std::ranges::none_of(k_of_vendors, begins)) {
      words.push_back(option);
    }
  }
}

Result<std::vector<std::string>> common_words(const Options& options) {
  std::optional<offline::OfflineTarget> target;
  if (!options.targets.empty()) {
    CLBIN_TRY_ASSIGN(const auto named, offline::parse_targets(options.targets.front()));
    target = named.front();
  }
  std::vector<std::string> words = {"clang", "-x", "cl"};
  append_options(target_words(target), words);
  append_options(options.driver_options, words);
  if (!options.variants.empty()) {
    append_options(options.variants.front().options, words);
  }
  for (const fs::path& folder : options.include_folders) {
    words.push_back("-I" + folder.string());
  }
  std::error_code error; // where oclcc is installed, so are the headers that it contains
  const fs::path program = fs::canonical(base::program_file(), error);
  const fs::path headers = (program.parent_path() / "../include").lexically_normal();
  if (fs::exists(headers / "clbin/matrix.clh", error)) {
    words.push_back("-I" + headers.string());
  }
  for (const fs::path& file : options.forced_includes) {
    words.insert(words.end(), {"-include", file.string()});
  }
  return words;
}

// Processes of one build write one file, and each keeps what the others have written. The lock is
// that of the directory, because the file is replaced. A file system without locks does without.
base::FileDescriptor lock_directory_of(const fs::path& file) {
  return base::lock_folder(file.has_parent_path() ? file.parent_path() : fs::path("."));
}

// Returns the entries of the file; none if it does not exist.
Result<JsonArray> read_commands(const fs::path& file) {
  constexpr base::JsonLimits k_limits{.max_bytes = 256ULL << 20U};
  const auto bytes = base::read_whole_file(file, k_limits.max_bytes);
  if (!bytes && bytes.error().code == ErrorCode::file_not_found) {
    return JsonArray();
  }
  CLBIN_TRY(bytes);
  CLBIN_TRY_ASSIGN(JsonValue document, named(base::parse_json(*bytes, k_limits), file));
  auto* const entries = std::get_if<JsonArray>(&document.value);
  if (entries == nullptr) {
    return refused("'{}' is not a list of commands", file.string());
  }
  return std::move(*entries);
}

// Whether the entry of a list is that of `file`, with an absolute path, of oclcc.
bool is_of(const JsonValue& entry, const std::string& file) {
  const auto* const object = std::get_if<JsonObject>(&entry.value);
  if (object == nullptr || !object->contains("file")) {
    return false;
  }
  const auto* const name = std::get_if<std::string>(&object->find("file")->second.value);
  return name != nullptr && *name == file;
}

} // namespace

Result<void> write_compile_commands(const Options& options) {
  const fs::path& file = *options.compile_commands;
  if (std::ranges::find(options.inputs, "-", &Input::path) != options.inputs.end()) {
    return refused("'--compile-commands' requires files: standard input has no name");
  }
  CLBIN_TRY(require_other_files({&file, 1}, input_paths(options)));
  CLBIN_TRY_ASSIGN(const auto words, common_words(options));
  const base::FileDescriptor lock = lock_directory_of(file);
  CLBIN_TRY_ASSIGN(JsonArray entries, read_commands(file));
  const std::string before = write_json({entries}, base::JsonLayout::indented);
  for (const Input& input : options.inputs) {
    const std::string source = fs::absolute(input.path).lexically_normal().string();
    std::vector<std::string> arguments = words;
    arguments.push_back(source);
    JsonValue entry{JsonObject{{"arguments", base::strings_json(arguments)},
                               {"directory", {fs::current_path().string()}},
                               {"file", {source}}}};
    const auto old =
        std::ranges::find_if(entries, [&](const JsonValue& other) { return is_of(other, source); });
    if (old == entries.end()) {
      entries.push_back(std::move(entry));
    } else {
      *old = std::move(entry);
    }
  }
  const std::string text = write_json({std::move(entries)}, base::JsonLayout::indented);
  return text == before ? Result<void>() : base::write_output_file(file, base::as_bytes(text));
}

} // namespace oclcc
