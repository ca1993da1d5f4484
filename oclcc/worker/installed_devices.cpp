#include "worker/installed_devices.hpp"

#include "worker/spawn.hpp"

#include <fmt/format.h>
#include <system_error>

namespace oclcc::worker {

namespace {

constexpr std::string_view k_nothing_installed =
    "no OpenCL device found; install a driver: your GPU vendor's, or pocl-opencl-icd for the CPU";

// Adds the limit that may be the cause, because loaders and drivers report it in different words,
// or not at all.
std::string why_there_is_none(const std::string& load_failures) {
  const std::optional<std::uint64_t> limit = address_space_limit();
  if (load_failures.empty() && !limit) {
    return std::string(k_nothing_installed);
  }
  std::string text = "no OpenCL device found";
  text += load_failures.empty() ? "" : ": " + load_failures;
  if (limit) {
    text += fmt::format("; this process may use no more than {} MiB of virtual memory (ulimit -v)",
                        *limit >> 20U);
  }
  return text;
}

std::string with_driver_output(std::string message, std::string output) {
  while (output.ends_with('\n')) {
    output.pop_back();
  }
  return output.empty() ? message : fmt::format("{}; it printed: {}", message, output);
}

// no_opencl as for find_installed_devices; no_device with the errors of the drivers.
Result<InstalledDevices> ask(const WorkerSettings& settings, PropertyQuery properties,
                             std::string_view subject) {
  CLBIN_TRY_ASSIGN(WorkerProcess worker, WorkerProcess::start(settings));
  const EnumerateRequest request{.with_properties = properties == PropertyQuery::ask};
  auto reply = worker.enumerate(request, subject, settings.enumeration_timeout);
  if (!reply) {
    return fail(ErrorCode::no_device, "{}",
                with_driver_output(reply.error().message, worker.take_output()));
  }
  if (reply->no_opencl) {
    return fail(ErrorCode::no_opencl, "{}", reply->error);
  }
  if (!reply->error.empty()) {
    return fail(ErrorCode::no_device, "{}",
                with_driver_output(fmt::format("{} failed: {}", subject, reply->error),
                                   worker.take_output()));
  }
  InstalledDevices found;
  found.load_failures = std::move(reply->load_failures);
  found.driver_output = worker.take_output();
  found.devices = reply->devices;
  found.workers.push_back({std::move(worker), std::move(reply->devices), std::nullopt});
  return found;
}

Result<InstalledDevices> ask_each(const WorkerSettings& settings, PropertyQuery properties,
                                  const std::vector<std::string>& libraries) {
  InstalledDevices all;
  std::uint32_t next_platform = 0;
  for (const std::string& library : libraries) {
    WorkerSettings own = settings;
    own.only_driver = library;
    auto alone = ask(own, properties, "it");
    if (!alone && alone.error().code != ErrorCode::no_device) {
      return tl::unexpected(alone.error());
    }
    if (!alone) {
      all.failures.push_back(fmt::format("'{}' is skipped: while listing its devices, {}", library,
                                         alone.error().message));
    } else if (!alone->devices.empty()) { // whose platforms are numbered from 0
      all.driver_output += alone->driver_output;
      for (DeviceDescription& device : alone->devices) {
        device.platform += next_platform;
        all.devices.push_back(std::move(device));
      }
      alone->workers.front().first_platform = next_platform;
      all.workers.push_back(std::move(alone->workers.front()));
      next_platform = all.devices.back().platform + 1;
    }
  }
  if (all.devices.empty()) {
    const std::vector<std::string> nothing{std::string(k_nothing_installed)};
    return fail(ErrorCode::no_device, "no OpenCL driver lists a device: {}",
                fmt::join(all.failures.empty() ? nothing : all.failures, "; "));
  }
  return all;
}

} // namespace

Result<InstalledDevices> find_installed_devices(const WorkerSettings& settings,
                                                PropertyQuery properties) {
  auto found = ask(settings, properties, "an OpenCL driver that was listing its devices");
  if (found && found->devices.empty()) {
    return fail(ErrorCode::no_device, "{}",
                with_driver_output(why_there_is_none(found->load_failures), found->driver_output));
  }
  if (found || found.error().code != ErrorCode::no_device) {
    return found;
  }
  const std::vector<std::string> libraries = installed_driver_libraries();
  return libraries.size() < 2 ? std::move(found) : ask_each(settings, properties, libraries);
}

Result<void> DeviceWorker::start() {
  if (m_worker && m_worker->alive()) {
    return {};
  }
  CLBIN_TRY_ASSIGN(bool is_seen, start_with(m_device.driver_library));
  // A driver that lists its devices only together with others, or whose library is unknown.
  if (!is_seen && !m_device.driver_library.empty()) {
    CLBIN_TRY_ASSIGN(is_seen, start_with({}));
  }
  return is_seen ? Result<void>()
                 : fail(ErrorCode::no_device, "'{}' was listed before, but is no longer available",
                        m_device.identity.device_name);
}

Result<bool> DeviceWorker::start_with(std::string only_driver) {
  m_worker.reset();
  WorkerSettings settings = m_settings;
  settings.only_driver = std::move(only_driver);
  CLBIN_TRY_ASSIGN(WorkerProcess process, WorkerProcess::start(settings));
  m_worker.emplace(std::move(process));
  CLBIN_TRY_ASSIGN(const auto reply,
                   m_worker->enumerate({}, "an OpenCL driver that was listing its devices",
                                       settings.enumeration_timeout));
  const auto found =
      std::ranges::find(reply.devices, m_device.identity, &DeviceDescription::identity);
  if (found != reply.devices.end()) {
    m_platform = found->platform;
    m_number = found->device;
  }
  return found != reply.devices.end();
}

} // namespace oclcc::worker
