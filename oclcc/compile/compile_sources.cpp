#include "compile/compile_job.hpp"

#include "closure/include_closure.hpp"
#include "format/binary/binary_kernels.hpp"
#include "targets/binary_entry.hpp"
#include "targets/embedded_files.hpp"
#include "targets/patterns.hpp"
#include "terminal/shell_quoting.hpp"

#include <fmt/format.h>

namespace oclcc {

using clbin::closure::driver_options_of;
using clbin::closure::IncludeSearch;

namespace {

constexpr std::uint64_t k_max_module_bytes = 1ULL << 30U;

std::string il_options(const std::vector<std::string>& driver_options) {
  std::vector<std::string> words;
  std::ranges::copy_if(driver_options, std::back_inserter(words), [](const std::string& word) {
    return word.starts_with("-cl-") && !word.starts_with("-cl-std=");
  });
  return join_options(words);
}

Result<IlProgram> read_il_module(const Input& input, const std::string& options) {
  CLBIN_TRY_ASSIGN(auto bytes, base::read_whole_file(input.path, k_max_module_bytes));
  CLBIN_TRY_ASSIGN(const format::BinaryInfo info, format::read_spirv_header(bytes));
  CLBIN_TRY_ASSIGN(format::EntryInput entry, offline::entry_of_binary(std::move(bytes)));
  entry.target = offline::target_of_binary(info).value_or(format::Target());
  entry.options = options;
  IlProgram program{input.path.string(), {}};
  program.program.name = input.program;
  program.program.variants = {{entry.variant, options}};
  program.program.entries.push_back(std::move(entry));
  return program;
}

// Whether `path` is a regular file that starts with the magic of SPIR-V, in either byte order.
bool is_il_module(const std::filesystem::path& path) {
  constexpr std::array k_magic = {std::byte{0x03}, std::byte{0x02}, std::byte{0x23},
                                  std::byte{0x07}};
  const auto start = start_of_file(path, k_magic.size());
  return start &&
         (std::ranges::equal(k_magic, start->view()) ||
          std::equal(k_magic.rbegin(), k_magic.rend(), start->view().begin(), start->view().end()));
}

// Formats the name for a #line directive.
std::string quoted_for_line(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') {
      text += '\\';
    }
    text += c;
  }
  return text + '"';
}

void map_text(std::span<const PrefixMapping> mappings, std::string& text,
              std::map<std::string, std::string>& names) {
  const auto lines = clbin::source::scan_directives(text).lines;
  // Starts with the last one, so that previous positions stay valid.
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const std::string mapped = map_prefix(mappings, line->file);
    if (mapped == line->file) {
      continue;
    }
    const std::string spelling = quoted_for_line(line->file);
    const std::size_t at = text.rfind(spelling, line->end);
    if (at != std::string::npos) {
      text.replace(at, spelling.size(), quoted_for_line(mapped));
      names.emplace(mapped, line->file);
    }
  }
}

// Prints the errors of inputs, and returns their statuses.
class InputReader {
public:
  InputReader(const Options& options, std::span<const std::filesystem::path> outputs,
              Reporter& reporter, Job& job)
      : m_options(options), m_outputs(outputs), m_reporter(reporter), m_job(job) {}

  // Continues after an error: a run reports all of them. The sources come first.
  ExitCode read() {
    const auto named = check_program_names(m_options.inputs);
    ExitCode sources = named ? ExitCode::success : refuse(named.error(), ExitCode::command_line);
    ExitCode modules = ExitCode::success;
    if (named) {
      for_each_input(false, [&](const Input& input) { update(sources, read_source(input)); });
    }
    for_each_input(true, [&](const Input& input) { update(modules, read_module(input)); });
    return sources != ExitCode::success ? sources : modules;
  }

private:
  static void update(ExitCode& status, ExitCode read) {
    status = read == ExitCode::success ? status : read;
  }

  void for_each_input(bool wanted_modules, const auto& use) const {
    for (const Input& input : m_options.inputs) {
      if (is_il_module(input.path) == wanted_modules) {
        use(input);
      }
    }
  }

  ExitCode refuse(const Error& error, ExitCode status) {
    m_reporter.error(error);
    return status;
  }

  ExitCode read_source(const Input& input) {
    auto closure = clbin::closure::find_include_closure(input.path, m_search);
    if (!closure) { // the error is in the file, not in the command line that names it
      return refuse(closure.error(), ExitCode::file);
    }
    if (const auto others = require_other_files(m_outputs, closure->files); !others) {
      return refuse(others.error(), ExitCode::command_line);
    }
    if (m_options.depfile_mode != DepfileMode::instead) { // which implies -w, as in gcc
      for (const clbin::closure::IncludeWarning& warning : closure->warnings) {
        m_reporter.diagnostic({Severity::warning, warning.file, warning.line, warning.column,
                               warning.text, warning.source_line});
      }
    }
    auto mapped_names = map_line_names(m_options.prefix_map, closure->package);
    m_job.programs.push_back(
        {input.program, input.path.string(),
         std::make_shared<const format::SourcePackage>(std::move(closure->package)),
         std::move(closure->files), std::move(mapped_names),
         is_optional(m_options, input.program) ? ProgramNeed::optional : ProgramNeed::required});
    return ExitCode::success;
  }

  ExitCode read_module(const Input& input) {
    if (const auto others = require_other_files(m_outputs, {input.path}); !others) {
      return refuse(others.error(), ExitCode::command_line);
    }
    auto module = read_il_module(input, il_options(m_options.driver_options));
    if (!module) {
      return refuse(named_error(module.error(), input.path), ExitCode::file);
    }
    m_job.modules.push_back(*std::move(module));
    return ExitCode::success;
  }

  const Options& m_options;
  std::span<const std::filesystem::path> m_outputs;
  Reporter& m_reporter;
  Job& m_job;
  IncludeSearch m_search = include_search(m_options);
};

// Requires that each pattern matches a device.
Result<void> check_device_options(const Options& options, const Job& job) {
  std::vector<worker::DeviceDescription> devices;
  for (const BuildTarget& target : job.targets) {
    if (target.device) {
      devices.push_back(*target.device);
    }
  }
  for (const DeviceOptions& added : options.device_options) {
    const auto matching = select_devices(devices, {added.pattern});
    if (!matching) {
      return base::add_context(matching.error(), "--device-option");
    }
  }
  return {};
}

// The words of --device-option for the target, behind those of the variant.
std::vector<std::string> words_for(const BuildTarget& target, std::vector<std::string> words,
                                   const Options& options) {
  for (const DeviceOptions& added : options.device_options) {
    if (target.device && matches_pattern(*target.device, added.pattern)) {
      words.insert(words.end(), added.options.begin(), added.options.end());
    }
  }
  return words;
}

} // namespace

IncludeSearch include_search(const Options& options) {
  IncludeSearch search{
      options.include_folders, options.forced_includes, options.driver_options, {}, {}};
  search.own_headers.emplace("clbin/matrix.clh", offline::clbin_matrix());
  for (const Variant& variant : options.variants) {
    search.variant_options.insert(search.variant_options.end(), variant.options.begin(),
                                  variant.options.end());
  }
  for (const DeviceOptions& device : options.device_options) {
    search.variant_options.insert(search.variant_options.end(), device.options.begin(),
                                  device.options.end());
  }
  return search;
}

Result<void> add_device_options(const Options& options, Job& job) {
  if (!options.unit || options.goal == CompileGoal::preview) {
    CLBIN_TRY(check_device_options(options, job));
  }
  if (options.device_options.empty()) {
    return {};
  }
  const IncludeSearch search = include_search(options);
  for (std::size_t i = 0; i < job.variants.size(); ++i) {
    const std::vector<std::string> words =
        options.variants.empty() ? std::vector<std::string>() : options.variants[i].options;
    for (const BuildTarget& target : job.targets) {
      job.variants[i].target_options.emplace_back(
          driver_options_of(search, words_for(target, words, options)));
    }
  }
  return {};
}

std::vector<VariantOptions> read_variants(const Options& options) {
  const IncludeSearch search = include_search(options);
  std::vector<VariantOptions> variants;
  for (const Variant& variant : options.variants) {
    const auto required = options.requirements.find(variant.name);
    variants.push_back(
        {variant.name,
         BuildOptions(driver_options_of(search, variant.options)),
         {},
         required == options.requirements.end() ? std::set<std::string>() : required->second});
  }
  if (variants.empty()) {
    variants.push_back(
        {std::string(format::k_default_variant), BuildOptions(driver_options_of(search, {}))});
  }
  return variants;
}

ExitCode read_inputs(const Options& options, std::span<const std::filesystem::path> outputs,
                     Reporter& reporter, Job& job) {
  return InputReader(options, outputs, reporter, job).read();
}

std::string map_prefix(std::span<const PrefixMapping> mappings, std::string_view name) {
  const auto found =
      std::find_if(mappings.rbegin(), mappings.rend(), [&](const PrefixMapping& mapping) {
        return name.starts_with(mapping.old_prefix);
      });
  return found == mappings.rend()
             ? std::string(name)
             : found->new_prefix + std::string(name.substr(found->old_prefix.size()));
}

std::map<std::string, std::string> map_line_names(std::span<const PrefixMapping> mappings,
                                                  format::SourcePackage& package) {
  std::map<std::string, std::string> names;
  if (mappings.empty()) {
    return names;
  }
  map_text(mappings, package.main.text, names);
  for (format::SourceFile& header : package.headers) {
    map_text(mappings, header.text, names);
  }
  return names;
}

} // namespace oclcc
