#include "command_line/modes.hpp"

#include "offline/offline_compiler.hpp"
#include "targets/machine_description.hpp"
#include "terminal/report_json.hpp"
#include "worker/installed_devices.hpp"
#include "worker/worker_process.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace oclcc {

using clbin::base::Result;
using worker::DeviceDescription;

namespace {

// The devices that units can be built for. Lists each identity once.
std::vector<DeviceDescription> distinct_devices(std::vector<DeviceDescription> all) {
  std::vector<DeviceDescription> distinct;
  for (DeviceDescription& device : all) {
    const bool is_known =
        std::any_of(distinct.begin(), distinct.end(), [&](const DeviceDescription& other) {
          return other.identity == device.identity;
        });
    if (device.compiler_available && !is_known) {
      distinct.push_back(std::move(device));
    }
  }
  return distinct;
}

// The programs of every target that can be used here.
Result<std::vector<MachineTools>> installed_tools(const Options& options) {
  std::vector<MachineTools> all;
  offline::ToolDigests digests{ContentDigests(clbin::cache::CacheSettings())};
  for (const offline::OfflineTarget& target : offline::known_targets()) {
    const std::string spelling = offline::spelling_of(target);
    const auto job = offline::find_job(target, options.tools, digests);
    if (!job && job.error().code == clbin::base::ErrorCode::no_device) {
      continue; // they are not installed
    }
    if (!job) {
      return tl::unexpected(job.error());
    }
    const std::string feature = tools_feature(spelling, job->tool_facts);
    const auto known = std::find_if(all.begin(), all.end(), [&](const MachineTools& other) {
      return other.feature == feature;
    });
    if (known == all.end()) {
      all.push_back({feature, {spelling}});
    } else {
      known->targets.push_back(spelling);
    }
  }
  return all;
}

Result<MachineDescription> describe_machine(const Options& options,
                                            const worker::WorkerSettings& settings,
                                            Reporter& reporter) {
  MachineDescription machine;
  CLBIN_TRY(offline::require_known_tools(options.tools));
  CLBIN_TRY_ASSIGN(machine.tools, installed_tools(options));
  CLBIN_TRY_ASSIGN(const worker::WorkerSettings workers, worker::with_home(settings));
  auto installed = worker::find_installed_devices(workers, worker::PropertyQuery::skip);
  if (!installed && machine.tools.empty()) {
    return tl::unexpected(installed.error());
  }
  if (!installed) {
    reporter.note(fmt::format("only for offline targets: {}", installed.error().message));
    return machine;
  }
  for (const std::string& failure : installed->failures) {
    reporter.warning(failure);
  }
  machine.devices = distinct_devices(std::move(installed->devices));
  return machine;
}

} // namespace

ExitCode identity(const Options& options, const worker::WorkerSettings& settings,
                  Reporter& reporter) {
  const auto machine = describe_machine(options, settings, reporter);
  if (!machine) {
    reporter.error(machine.error());
    return exit_code_of(machine.error().code);
  }
  const std::string text = options.list_format == ListFormat::json
                               ? report_json(machine_json(*machine))
                               : fmt::format("Feature={}\n", fmt::join(features_of(*machine), ","));
  return reporter.print(text) ? ExitCode::success : ExitCode::file;
}

} // namespace oclcc
