#include "bundle_programs.hpp"
#include "devices.hpp"
#include "measurement.hpp"
#include "opencl_functions.hpp"
#include "options.hpp"
#include "reports.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <fstream>
#include <random>

namespace {

using namespace runtime_demo;

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

int report_error(const Error& error) {
  std::fputs(fmt::format("runtime_demo: error: {}\n", error.message).c_str(), stderr);
  return static_cast<int>(error.code);
}

Result<std::vector<std::filesystem::path>> bundle_paths(const Options& options) {
  if (!options.bundles.empty()) {
    return options.bundles;
  }
  std::error_code code;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", code);
  std::vector<std::filesystem::path> paths;
  for (const char* const name : {DEMO_BUNDLES}) {
    paths.push_back(executable.parent_path() / name);
    if (!std::filesystem::exists(paths.back(), code)) {
      return failure(ExitCode::file,
                     fmt::format("there is no bundle '{}': name one, or build the target "
                                 "demo_bundle where there is an OpenCL device",
                                 paths.back().string()));
    }
  }
  return paths;
}

Result<std::vector<const KernelCase*>> choose_kernels(const Options& options,
                                                      const BundlePrograms& bundles) {
  std::vector<const KernelCase*> chosen;
  for (const std::string& name : options.kernels) {
    const std::vector<const KernelCase*> found = find_kernels(name);
    if (found.empty()) {
      return failure(ExitCode::command_line,
                     fmt::format("no kernel is called '{}' (--list names them)", name));
    }
    for (const KernelCase* const kernel : found) {
      if (!bundles.has(*kernel)) {
        return failure(ExitCode::bundle, bundles.describe_missing(*kernel));
      }
      chosen.push_back(kernel);
    }
  }
  if (!options.kernels.empty()) {
    return chosen;
  }
  for (const KernelCase& kernel : kernel_catalog()) {
    if (bundles.has(kernel)) {
      chosen.push_back(&kernel);
    }
  }
  if (chosen.empty()) {
    return failure(ExitCode::bundle,
                   fmt::format("{} has none of the kernels of --list", bundles.names()));
  }
  return chosen;
}

// Rejects an unsuitable --size before anything runs.
Result<void> check_asked_size(const Options& options, const std::vector<Device>& devices,
                              const std::vector<const KernelCase*>& kernels) {
  if (!options.size) {
    return {};
  }
  for (const Device& device : devices) {
    for (const KernelCase* const kernel : kernels) {
      Result<void> fits = check_fits(*kernel, *options.size, device);
      if (!fits) {
        return fits;
      }
    }
  }
  return {};
}

std::uint64_t fresh_seed() {
  return std::random_device{}();
}

bool wants_log() {
  const char* const value = std::getenv("CLBIN_LOG");
  return value != nullptr && std::string_view(value) == "1";
}

Result<void> write_plot(const std::filesystem::path& path, const std::string& svg) {
  std::ofstream file(path, std::ios::binary);
  file << svg;
  file.close();
  if (!file) {
    return failure(ExitCode::file, fmt::format("cannot write '{}'", path.string()));
  }
  return {};
}

struct Run {
  const Options& options;
  const OpenclLibrary& library;
  const BundlePrograms& bundles;
  const std::vector<Device>& devices;
  const std::vector<const KernelCase*>& kernels;
  RunSettings settings;
};

Result<std::vector<Measurement>> measure_all(const Run& run) {
  WorkloadStore workloads(run.settings.seed);
  std::vector<Measurement> measurements;
  for (const Device& device : run.devices) {
    Result<DeviceSession> session = DeviceSession::open(run.library, run.bundles, device);
    if (!session) {
      return tl::unexpected<Error>(session.error());
    }
    for (const KernelCase* const kernel : run.kernels) {
      measurements.push_back(session->measure(*kernel, run.settings, workloads));
      if (run.options.format == OutputFormat::table) {
        print(table_row(measurements.back()));
      }
      const std::string log = session->take_log();
      if (wants_log()) {
        std::fputs(log.c_str(), stderr);
      }
    }
  }
  return measurements;
}

void print_tables(const std::vector<Measurement>& measurements) {
  print(table_footnotes());
  for (const std::string& section :
       {best_variants(measurements), lecture_table(measurements), blog_table(measurements)}) {
    if (!section.empty()) {
      print("\n" + section);
    }
  }
  print("\n" + summary(measurements));
}

RunSettings settings_of(const Options& options) {
  RunSettings settings;
  settings.size = options.size;
  settings.repeat = options.repeat;
  settings.limits = options.limits;
  settings.seed = options.seed ? *options.seed : fresh_seed();
  settings.load_from = options.load_from;
  const bool all_from_source = options.plot && options.limits != k_quick_limits;
  settings.source_comparison =
      all_from_source ? SourceComparison::all_kernels : SourceComparison::blog_kernels;
  return settings;
}

Result<ExitCode> measure_and_report(const Run& run) {
  if (run.options.format == OutputFormat::table) {
    print(preamble(run.devices, run.settings.seed) + table_header());
  }
  const Result<std::vector<Measurement>> measurements = measure_all(run);
  if (!measurements) {
    return tl::unexpected<Error>(measurements.error());
  }
  if (run.options.format == OutputFormat::json) {
    print(json_report(run.devices, run.settings.seed, *measurements));
  } else {
    print_tables(*measurements);
  }
  if (run.options.plot) {
    const Result<void> written = write_plot(*run.options.plot, svg_plot(*measurements));
    if (!written) {
      return tl::unexpected<Error>(written.error());
    }
  }
  const bool any_failed =
      std::any_of(measurements->begin(), measurements->end(),
                  [](const Measurement& one) { return one.outcome == Outcome::failed; });
  return any_failed ? ExitCode::kernel_failed : ExitCode::success;
}

Result<ExitCode> run_kernels(const Options& options) {
  const auto paths = bundle_paths(options);
  if (!paths) {
    return tl::unexpected<Error>(paths.error());
  }
  const auto bundles = BundlePrograms::open(*paths);
  if (!bundles) {
    return tl::unexpected<Error>(bundles.error());
  }
  const auto kernels = choose_kernels(options, *bundles);
  if (!kernels) {
    return tl::unexpected<Error>(kernels.error());
  }
  const auto library = OpenclLibrary::open();
  if (!library) {
    return tl::unexpected<Error>(library.error());
  }
  const auto all_devices = find_devices(library->functions());
  if (!all_devices) {
    return tl::unexpected<Error>(all_devices.error());
  }
  const auto devices = choose_devices(*all_devices, options.devices);
  if (!devices) {
    return tl::unexpected<Error>(devices.error());
  }
  const auto fits = check_asked_size(options, *devices, *kernels);
  if (!fits) {
    return tl::unexpected<Error>(fits.error());
  }
  return measure_and_report(
      {options, *library, *bundles, *devices, *kernels, settings_of(options)});
}

Result<ExitCode> run(const std::vector<std::string>& words) {
  const Result<Options> options = parse_options(words);
  if (!options) {
    return tl::unexpected<Error>(options.error());
  }
  switch (options->mode) {
  case Mode::help:
    print(help_text());
    return ExitCode::success;
  case Mode::version:
    print("runtime_demo " DEMO_VERSION "\n");
    return ExitCode::success;
  case Mode::list:
    print(kernel_list());
    return ExitCode::success;
  case Mode::run:
    break;
  }
  return run_kernels(*options);
}

} // namespace

int main(int argument_count, char** arguments) {
  try {
    const Result<ExitCode> done = run(std::vector<std::string>(
        arguments + std::min(argument_count, 1), arguments + argument_count));
    return done ? static_cast<int>(*done) : report_error(done.error());
  } catch (const std::bad_alloc&) {
    return report_error({ExitCode::command_line, "not enough memory on the host for this size"});
  } catch (const std::exception& error) {
    return report_error({ExitCode::kernel_failed, error.what()});
  }
}
