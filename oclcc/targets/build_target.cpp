#include "targets/build_target.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace oclcc {

using worker::DeviceDescription;

namespace {

std::string label_of(const DeviceDescription& device,
                     const std::vector<DeviceDescription>& devices) {
  const std::string& name = device.identity.device_name;
  const auto has_name = [&](const DeviceDescription& other) {
    return other.identity.device_name == name;
  };
  return std::count_if(devices.begin(), devices.end(), has_name) == 1
             ? name
             : fmt::format("{} ({}:{})", name, device.platform, device.device);
}

} // namespace

std::vector<BuildTarget> device_targets(const std::vector<DeviceDescription>& devices) {
  std::vector<BuildTarget> targets;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    BuildTarget target;
    target.target.identity = devices[i].identity;
    target.device = devices[i];
    target.label = label_of(devices[i], devices);
    target.compiler_target = i;
    targets.push_back(std::move(target));
  }
  return targets;
}

} // namespace oclcc
