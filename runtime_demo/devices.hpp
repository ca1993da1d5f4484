// The devices of this machine, and their selection by --device.
#pragma once

#include "opencl_functions.hpp"
#include "result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runtime_demo {

enum class DeviceKind : std::uint8_t { cpu, gpu, other };

struct Device {
  cl_device_id id = nullptr;
  std::string index; // "0:1": platform and device, in the order of the ICD loader
  std::string platform;
  std::string name;
  std::string driver_version;
  DeviceKind kind = DeviceKind::other;
  bool has_double = false;
  bool is_simulator = false; // too slow for all but small sizes
  bool limits_loops = false; // llvmpipe before Mesa 25: wrong after 65535 iterations
  std::uint64_t global_memory = 0;
  std::uint64_t largest_buffer = 0;
  std::uint64_t local_memory = 0;
  std::size_t largest_group = 0;
};

// Returns the devices of all platforms. no_device: there is none.
[[nodiscard]] Result<std::vector<Device>> find_devices(const OpenclFunctions& opencl);

// Returns whether `pattern` matches the device: `gpu`, `cpu`, `all`, an index, or a part of the
// name of the platform or the device. Ignores case.
[[nodiscard]] bool matches(const Device& device, const std::string& pattern);

// Returns the devices that match any pattern; all devices if there is no pattern. no_device: a
// pattern matches no device; the message lists the devices.
[[nodiscard]] Result<std::vector<Device>> choose_devices(const std::vector<Device>& devices,
                                                         const std::vector<std::string>& patterns);

} // namespace runtime_demo
