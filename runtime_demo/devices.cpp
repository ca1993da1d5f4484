#include "devices.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace runtime_demo {

namespace {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return lower_case(text).find(lower_case(part)) != std::string::npos;
}

// OpenCL's strings end in a NUL, and some drivers pad device names with blanks.
std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) {
    text.pop_back();
  }
  return text.substr(std::min(text.size(), text.find_first_not_of(' ')));
}

template <class Query, class Object>
std::string text_of(Query query, Object object, cl_uint parameter) {
  std::size_t bytes = 0;
  if (query(object, parameter, 0, nullptr, &bytes) != CL_SUCCESS) {
    return {};
  }
  std::string text(bytes, '\0');
  if (query(object, parameter, text.size(), text.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  return trimmed(std::move(text));
}

template <class Value>
Value value_of(const OpenclFunctions& opencl, cl_device_id device, cl_device_info parameter) {
  Value value{};
  opencl.get_device_info(device, parameter, sizeof(value), &value, nullptr);
  return value;
}

DeviceKind kind_of(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) {
    return DeviceKind::gpu;
  }
  return (type & CL_DEVICE_TYPE_CPU) != 0 ? DeviceKind::cpu : DeviceKind::other;
}

Device describe(const OpenclFunctions& opencl, cl_device_id id, std::string index,
                const std::string& platform) {
  Device device;
  device.id = id;
  device.index = std::move(index);
  device.platform = platform;
  device.name = text_of(opencl.get_device_info, id, CL_DEVICE_NAME);
  device.driver_version = text_of(opencl.get_device_info, id, CL_DRIVER_VERSION);
  device.kind = kind_of(value_of<cl_device_type>(opencl, id, CL_DEVICE_TYPE));
  const std::string extensions = text_of(opencl.get_device_info, id, CL_DEVICE_EXTENSIONS);
  device.has_double = extensions.find("cl_khr_fp64") != std::string::npos;
  device.is_simulator = contains(platform, "oclgrind");
  device.limits_loops = contains(device.name, "llvmpipe") && device.driver_version < "25";
  device.global_memory = value_of<cl_ulong>(opencl, id, CL_DEVICE_GLOBAL_MEM_SIZE);
  device.largest_buffer = value_of<cl_ulong>(opencl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  device.local_memory = value_of<cl_ulong>(opencl, id, CL_DEVICE_LOCAL_MEM_SIZE);
  device.largest_group = value_of<std::size_t>(opencl, id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  return device;
}

void append_devices(const OpenclFunctions& opencl, cl_platform_id platform,
                    std::size_t platform_index, std::vector<Device>& devices) {
  cl_uint count = 0;
  if (opencl.get_device_ids(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS ||
      count == 0) {
    return;
  }
  std::vector<cl_device_id> ids(count);
  if (opencl.get_device_ids(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr) !=
      CL_SUCCESS) {
    return;
  }
  const std::string name = text_of(opencl.get_platform_info, platform, CL_PLATFORM_NAME);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    devices.push_back(describe(opencl, ids[i], fmt::format("{}:{}", platform_index, i), name));
  }
}

std::string list_of(const std::vector<Device>& devices) {
  std::string list;
  for (const Device& device : devices) {
    list += fmt::format("{}{} '{}' of '{}'", list.empty() ? "" : ", ", device.index, device.name,
                        device.platform);
  }
  return list;
}

} // namespace

Result<std::vector<Device>> find_devices(const OpenclFunctions& opencl) {
  std::vector<Device> devices;
  cl_uint count = 0;
  if (opencl.get_platform_ids(0, nullptr, &count) == CL_SUCCESS && count > 0) {
    std::vector<cl_platform_id> platforms(count);
    opencl.get_platform_ids(count, platforms.data(), nullptr);
    for (std::size_t i = 0; i < platforms.size(); ++i) {
      append_devices(opencl, platforms[i], i, devices);
    }
  }
  if (devices.empty()) {
    return failure(ExitCode::no_device,
                   "no OpenCL device: install a driver (pocl-opencl-icd runs on any CPU)");
  }
  return devices;
}

bool matches(const Device& device, const std::string& pattern) {
  if (pattern == "all") {
    return true;
  }
  if (pattern == "cpu" || pattern == "gpu") {
    return device.kind == (pattern == "cpu" ? DeviceKind::cpu : DeviceKind::gpu);
  }
  return device.index == pattern || contains(device.name, pattern) ||
         contains(device.platform, pattern);
}

Result<std::vector<Device>> choose_devices(const std::vector<Device>& devices,
                                           const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const bool found = std::any_of(devices.begin(), devices.end(),
                                   [&](const Device& device) { return matches(device, pattern); });
    if (!found) {
      return failure(ExitCode::no_device, fmt::format("no device matches '{}'; there are: {}",
                                                      pattern, list_of(devices)));
    }
  }
  std::vector<Device> chosen;
  for (const Device& device : devices) {
    const bool wanted = std::any_of(patterns.begin(), patterns.end(),
                                    [&](const std::string& p) { return matches(device, p); });
    if (patterns.empty() || wanted) {
      chosen.push_back(device);
    }
  }
  return chosen;
}

} // namespace runtime_demo
