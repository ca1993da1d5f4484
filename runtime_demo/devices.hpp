// The devices of this machine, and which of them --device asks for.
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
  bool is_simulator = false; // too slow for anything but small sizes
  bool limits_loops = false; // llvmpipe: gives wrong results after 65535 rounds of loops
  std::uint64_t global_memory = 0;
  std::uint64_t largest_buffer = 0;
  std::uint64_t local_memory = 0;
  std::size_t largest_group = 0;
};

// no_device: no platform has one.
[[nodiscard]] Result<std::vector<Device>> find_devices(const OpenclFunctions& opencl);

// `gpu`, `cpu`, `all`, an index or a part of the platform's or the device's name, in any case.
[[nodiscard]] bool matches(const Device& device, const std::string& pattern);

// Those that any pattern matches; all without a pattern. no_device: a pattern matches none; the
// message lists those there are.
[[nodiscard]] Result<std::vector<Device>> choose_devices(const std::vector<Device>& devices,
                                                         const std::vector<std::string>& patterns);

} // namespace runtime_demo
