#include "compile/compile_steps.hpp"

#include "closure/include_closure.hpp"
#include "compile/prefix_map.hpp"
#include "format/binary/binary_kernels.hpp"
#include "input/input_files.hpp"
#include "offline/clang_front_end.hpp"
#include "targets/patterns.hpp"

#include <fmt/format.h>

namespace oclcc {

using clbin::closure::driver_options_of;
using clbin::closure::IncludeSearch;

namespace {

constexpr std::uint64_t k_max_module_bytes = 1ULL << 30U;

std::string il_options(const std::vector<std::string>& driver_options) {
  std::vector<std::string> words;
  std::copy_if(driver_options.begin(), driver_options.end(), std::back_inserter(words),
               [](const std::string& word) {
                 return word.starts_with("-cl-") && !word.starts_with("-cl-std=");
               });
  return join_options(words);
}

format::Target target_of(const format::SpirvModule& module) {
  format::Target target;
  target.origin = format::TargetOrigin::offline;
  target.spec = fmt::format("spirv:{}.{}{}", module.version_major, module.version_minor,
                            module.address_bits == 32 ? ":32" : "");
  target.identity.address_bits = module.address_bits;
  return target;
}

Result<IlProgram> read_il_module(const Input& input, const std::string& options) {
  CLBIN_TRY_ASSIGN(auto bytes, base::read_whole_file(input.path, k_max_module_bytes));
  CLBIN_TRY_ASSIGN(format::SpirvModule module, format::read_spirv_module(bytes));
  if (module.kernels.empty()) {
    return fail(ErrorCode::damaged, "the SPIR-V module has no OpenCL kernel");
  }
  CLBIN_TRY(offline::require_resolved(module.imports));
  IlProgram program{input.path.string(), {}};
  program.program.name = input.program;
  const std::string variant(format::k_default_variant);
  program.program.variants = {{variant, options}};
  format::EntryInput entry;
  entry.variant = variant;
  entry.target = target_of(module);
  entry.options = options;
  entry.payload = std::move(bytes);
  entry.kernels = std::move(module.kernels);
  entry.tools = {{"oclcc", OCLCC_VERSION}};
  entry.spec_constants = std::move(module.spec_constants);
  program.program.entries.push_back(std::move(entry));
  return program;
}

IncludeSearch include_search(const Options& options) {
  IncludeSearch search{
      options.include_folders, options.forced_includes, options.driver_options, {}};
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

std::vector<VariantOptions> variants_of(const Options& options, const IncludeSearch& search) {
  std::vector<VariantOptions> variants;
  for (const Variant& variant : options.variants) {
    variants.push_back({variant.name, BuildOptions(driver_options_of(search, variant.options))});
  }
  if (variants.empty()) {
    variants.push_back(
        {std::string(format::k_default_variant), BuildOptions(driver_options_of(search, {}))});
  }
  return variants;
}

void report_warnings(const std::vector<clbin::closure::IncludeWarning>& warnings,
                     Reporter& reporter) {
  for (const clbin::closure::IncludeWarning& warning : warnings) {
    reporter.diagnostic({Severity::warning, warning.file, warning.line, warning.column,
                         warning.text, warning.source_line});
  }
}

std::vector<std::string> options_for(const Options& options, const BuildTarget& target) {
  std::vector<std::string> words;
  for (const DeviceOptions& added : options.device_options) {
    if (target.device && matches_pattern(*target.device, added.pattern)) {
      words.insert(words.end(), added.options.begin(), added.options.end());
    }
  }
  return words;
}

ProgramNeed need_of(const Input& input, const Options& options) {
  const auto& names = options.optional_programs;
  return std::find(names.begin(), names.end(), input.program) == names.end()
             ? ProgramNeed::required
             : ProgramNeed::optional;
}

// Whether `path` is a regular file that starts with the magic of SPIR-V, in either byte order.
bool is_il_module(const std::filesystem::path& path) {
  constexpr std::array k_magic = {std::byte{0x03}, std::byte{0x02}, std::byte{0x23},
                                  std::byte{0x07}};
  const auto start = start_of_file(path, k_magic.size());
  return start &&
         (std::equal(k_magic.begin(), k_magic.end(), start->view().begin(), start->view().end()) ||
          std::equal(k_magic.rbegin(), k_magic.rend(), start->view().begin(), start->view().end()));
}

} // namespace

ExitCode read_il_modules(const Options& options, std::span<const std::filesystem::path> outputs,
                         Reporter& reporter, std::vector<IlProgram>& modules) {
  const std::string module_options = il_options(options.driver_options);
  ExitCode status = ExitCode::success;
  for (const Input& input : options.inputs) {
    if (!is_il_module(input.path)) {
      continue;
    }
    if (const auto others = require_other_files(outputs, {input.path}); !others) {
      reporter.error(others.error());
      status = ExitCode::command_line;
      continue;
    }
    auto module = read_il_module(input, module_options);
    if (!module) {
      reporter.error(named_error(module.error(), input.path));
      status = ExitCode::file;
      continue;
    }
    modules.push_back(*std::move(module));
  }
  return status;
}

Result<void> add_device_options(const Options& options, const std::vector<BuildTarget>& targets,
                                std::vector<VariantOptions>& variants) {
  std::vector<worker::DeviceDescription> devices;
  for (const BuildTarget& target : targets) {
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
  add_device_options_of_unit(options, targets, variants);
  return {};
}

void add_device_options_of_unit(const Options& options, const std::vector<BuildTarget>& targets,
                                std::vector<VariantOptions>& variants) {
  if (options.device_options.empty()) {
    return;
  }
  const IncludeSearch search = include_search(options);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    for (const BuildTarget& target : targets) {
      std::vector<std::string> words;
      if (!options.variants.empty()) {
        words = options.variants[i].options;
      }
      const std::vector<std::string> added = options_for(options, target);
      words.insert(words.end(), added.begin(), added.end());
      variants[i].target_options.emplace_back(driver_options_of(search, words));
    }
  }
}

std::vector<VariantOptions> read_variants(const Options& options) {
  return variants_of(options, include_search(options));
}

ExitCode read_programs(const Options& options, std::span<const std::filesystem::path> outputs,
                       Reporter& reporter, std::vector<Program>& programs) {
  if (const auto named = check_program_names(options.inputs); !named) {
    reporter.error(named.error());
    return ExitCode::command_line;
  }
  const IncludeSearch search = include_search(options);
  ExitCode status = ExitCode::success;
  for (const Input& input : options.inputs) {
    if (is_il_module(input.path)) {
      continue;
    }
    auto closure = clbin::closure::find_include_closure(input.path, search);
    if (!closure) {
      reporter.error(closure.error());
      // The error is in the file, not in the command line that names it.
      status = ExitCode::file;
      continue;
    }
    if (const auto others = require_other_files(outputs, closure->files); !others) {
      reporter.error(others.error());
      status = ExitCode::command_line;
      continue;
    }
    if (options.depfile_mode != DepfileMode::instead) { // which implies -w, as in gcc
      report_warnings(closure->warnings, reporter);
    }
    std::map<std::string, std::string> mapped_names =
        map_line_names(options.prefix_map, closure->package);
    programs.push_back({input.program, input.path.string(),
                        std::make_shared<const format::SourcePackage>(std::move(closure->package)),
                        std::move(closure->files), std::move(mapped_names),
                        need_of(input, options)});
  }
  return status;
}

} // namespace oclcc
