// --warm: loads every program of bundles on the installed devices, as an application does when it
// starts for the first time, so that libclbin's user cache contains what has to be built. Each load
// happens in a worker: a driver that crashes or hangs affects one program on one device.
#include "command_line/bundle_file.hpp"
#include "command_line/modes.hpp"
#include "listing/launch_compilation.hpp"
#include "loader/ladder.hpp"
#include "targets/patterns.hpp"
#include "terminal/terminal_text.hpp"
#include "worker/installed_devices.hpp"

#include <fmt/format.h>

namespace oclcc {

namespace {

using clbin::cache::CacheSettings;
using clbin::cache::CacheUse;
using worker::DeviceDescription;
using worker::WarmReply;
using worker::WarmRequest;

// A variant of a program, and the launches for which a driver is to compile it.
struct WarmVariant {
  format::GroupView group;
  std::vector<format::Specialization> specializations;
};

struct WarmBundle {
  std::filesystem::path path; // as on the command line
  std::vector<WarmVariant> variants;
};

using LaunchesOfVariants = std::map<std::string, std::set<format::Specialization>>; // by name

// The launches that were recorded, and those for which entries of other devices were compiled.
LaunchesOfVariants launches_of(const format::Manifest& manifest) {
  LaunchesOfVariants launches;
  const auto add = [&launches](const std::string& variant, format::Specialization launch) {
    if (clbin::listing::is_specializable(launch.size)) {
      launches[variant].insert(std::move(launch));
    }
  };
  for (const format::RecordedLaunch& launch : manifest.launches) {
    add(launch.variant, {launch.kernel, launch.local_size, launch.has_offset});
  }
  for (const format::ManifestEntry& entry : manifest.entries) {
    for (const format::KernelReflection& kernel : entry.kernels) {
      for (const format::GroupSize& size : kernel.specialized_sizes) {
        add(entry.variant, {kernel.name, size, false});
      }
    }
  }
  return launches;
}

Result<std::vector<WarmVariant>> variants_of(const format::BundleReader& bundle) {
  if (bundle.is_encrypted()) {
    return refused("it is encrypted, and loads from it do not use the user cache");
  }
  std::vector<WarmVariant> variants;
  std::map<std::uint32_t, LaunchesOfVariants> launches; // by manifest, which variants share
  for (std::uint32_t index = 0; index < bundle.group_count(); ++index) {
    CLBIN_TRY_ASSIGN(format::GroupView group, bundle.group(index));
    const auto [of_program, is_new] = launches.try_emplace(group.manifest_blob);
    if (is_new) {
      CLBIN_TRY_ASSIGN(const format::Manifest manifest, bundle.read_manifest(group));
      of_program->second = launches_of(manifest);
    }
    const auto& found = of_program->second[group.variant];
    variants.push_back({std::move(group), {found.begin(), found.end()}});
  }
  return variants;
}

class Warming {
public:
  Warming(const Options& options, const ModeContext& context)
      : m_options(options), m_reporter(context.reporter), m_settings(context.workers),
        m_cache(CacheSettings::from_environment(context.environment)) {}

  Result<ExitCode> run() {
    if (m_cache.use == CacheUse::off) {
      return refused("'--warm' fills libclbin's user cache, which is off: {}",
                     m_cache.warning.empty() ? m_cache.why_off : m_cache.warning);
    }
    for (const Input& input : m_options.inputs) {
      if (input.path == "-") {
        return refused("'--warm' needs files: its workers cannot read standard input");
      }
      CLBIN_TRY_ASSIGN(const format::BundleReader bundle, open_bundle(input.path));
      CLBIN_TRY_ASSIGN(auto variants, named(variants_of(bundle), input.path));
      m_bundles.push_back({input.path, std::move(variants)});
    }
    CLBIN_TRY_ASSIGN(const auto found,
                     find_selected_devices(m_settings, m_options.device_patterns, m_reporter));
    base::lower_priority(); // of the workers, too
    for (const DeviceDescription& device : found.devices) {
      CLBIN_TRY_ASSIGN(const bool is_printed, warm_device(device));
      if (!is_printed) {
        return ExitCode::file;
      }
    }
    return m_has_failed ? ExitCode::compile_failed : ExitCode::success;
  }

private:
  // Returns whether the line of the device was written.
  Result<bool> warm_device(const DeviceDescription& device) {
    worker::DeviceWorker worker(m_settings, device);
    std::map<std::string, std::size_t> loads; // by origin
    for (const WarmBundle& bundle : m_bundles) {
      for (const WarmVariant& variant : bundle.variants) {
        m_reporter.progress(fmt::format("{}: {} / {}", printable(device.identity.device_name),
                                        printable(variant.group.program.str()),
                                        printable(variant.group.variant.str())));
        CLBIN_TRY_ASSIGN(const std::string origin, load(bundle, variant, device, worker));
        ++loads[origin];
      }
    }
    m_reporter.end_progress();
    if (m_reporter.verbosity() == Verbosity::quiet) {
      return true;
    }
    return m_reporter.print(
        fmt::format("{}  {} / {}: {} from the bundle, {} from the user cache, {} built\n",
                    device_number(device), printable(device.identity.platform_name),
                    printable(device.identity.device_name), loads["entry"], loads["user cache"],
                    loads["il"] + loads["source"]));
  }

  // Returns the origin, or "" after a failure, which is reported unless the device lacks what the
  // variant requires.
  Result<std::string> load(const WarmBundle& bundle, const WarmVariant& variant,
                           const DeviceDescription& device, worker::DeviceWorker& worker) {
    WarmRequest request{0,
                        0,
                        base::name_of(std::filesystem::absolute(bundle.path)),
                        variant.group.program,
                        variant.group.variant,
                        variant.specializations,
                        base::name_of(m_cache.folder),
                        m_cache.max_bytes};
    std::ranges::copy(m_options.specializations, std::back_inserter(request.specializations));
    CLBIN_TRY_ASSIGN(worker::WorkerProcess* const process, worker.worker_for(request));
    auto reply = process->warm(request, device.identity.device_name,
                               std::chrono::seconds(m_options.timeout_seconds));
    if (!reply) {
      reply = WarmReply{reply.error().message, {}, {}};
    }
    for (const std::string& warning : reply->warnings) {
      m_reporter.warning(warning);
    }
    const bool is_suitable =
        clbin::loader::lacking_extensions(variant.group.required, device.extensions).empty();
    if (!reply->error.empty() && is_suitable) {
      m_has_failed = true;
      report(fmt::format("{}: program '{}', variant '{}': {}", base::name_of(bundle.path),
                         variant.group.program.str(), variant.group.variant.str(), reply->error));
    }
    return std::move(reply->origin);
  }

  // The first line is the error; a build log may follow.
  void report(std::string_view error) {
    const auto take_line = [&error] {
      const std::string_view line = error.substr(0, error.find('\n'));
      error.remove_prefix(std::min(line.size() + 1, error.size()));
      return line;
    };
    m_reporter.error(take_line());
    while (!error.empty()) {
      m_reporter.explain(take_line());
    }
  }

  const Options& m_options;
  Reporter& m_reporter;
  worker::WorkerSettings m_settings;
  CacheSettings m_cache;
  std::vector<WarmBundle> m_bundles;
  bool m_has_failed = false;
};

} // namespace

Result<ExitCode> warm(const Options& options, const ModeContext& context) {
  return Warming(options, context).run();
}

} // namespace oclcc
