#include "compile/compile_steps.hpp"

#include "closure/include_closure.hpp"
#include "compile/il_modules.hpp"
#include "input/input_files.hpp"
#include "compile/prefix_map.hpp"
#include "targets/device_pattern.hpp"

#include <algorithm>

namespace oclcc {

using clbin::base::Result;
using clbin::closure::driver_options_of;
using clbin::closure::find_include_closure;
using clbin::closure::IncludeSearch;
using clbin::closure::IncludeWarning;

namespace {

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
    variants.push_back({std::string(clbin::format::k_default_variant),
                        BuildOptions(driver_options_of(search, {}))});
  }
  return variants;
}

void report_warnings(const std::vector<IncludeWarning>& warnings, Reporter& reporter) {
  for (const IncludeWarning& warning : warnings) {
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

} // namespace

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
      return clbin::base::add_context(matching.error(), "--device-option");
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
    auto closure = find_include_closure(input.path, search);
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
    programs.push_back(
        {input.program, input.path.string(),
         std::make_shared<const clbin::format::SourcePackage>(std::move(closure->package)),
         std::move(closure->files), std::move(mapped_names), need_of(input, options)});
  }
  return status;
}

} // namespace oclcc
