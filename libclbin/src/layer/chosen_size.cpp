#include "layer/chosen_size.hpp"

#include "layer/queries.hpp"
#include "model/device.hpp"

#include <CL/cl_ext.h>

#include <algorithm>
#include <string>

namespace clbin::layer {
namespace {

constexpr const char* k_suggestion = "clGetKernelSuggestedLocalWorkSizeKHR";
constexpr std::string_view k_suggestion_extension = "cl_khr_suggested_local_work_size";

// A device and the functions that answer for it. A failed query gives a value of zeros.
class DeviceAnswers {
public:
  DeviceAnswers(const cl_icd_dispatch& next, cl_command_queue queue) : m_next(next) {
    (void)next.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE,
                                     sizeof(m_device), // NOLINT(bugprone-sizeof-expression)
                                     static_cast<void*>(&m_device), nullptr);
  }

  template <typename T>
  [[nodiscard]] T value(cl_device_info name) const {
    return value_of<T>(m_device, name);
  }

  [[nodiscard]] std::string text(cl_device_info name) const {
    const auto characters =
        list_of<char>([&](std::size_t size, void* value, std::size_t* size_ret) {
          return m_next.clGetDeviceInfo(m_device, name, size, value, size_ret);
        });
    return {characters.begin(), std::find(characters.begin(), characters.end(), '\0')};
  }

  [[nodiscard]] std::string platform_name() const {
    const auto platform = value<cl_platform_id>(CL_DEVICE_PLATFORM);
    const auto characters =
        list_of<char>([&](std::size_t size, void* value, std::size_t* size_ret) {
          return m_next.clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, value, size_ret);
        });
    return {characters.begin(), std::find(characters.begin(), characters.end(), '\0')};
  }

  // PoCL asks the parent of a sub-device, which has all compute units.
  [[nodiscard]] cl_uint all_compute_units() const {
    cl_device_id device = m_device;
    while (const auto parent = value_of<cl_device_id>(device, CL_DEVICE_PARENT_DEVICE)) {
      device = parent;
    }
    return value_of<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  }

  [[nodiscard]] std::size_t largest_group(cl_kernel kernel) const {
    std::size_t largest = 0;
    (void)m_next.clGetKernelWorkGroupInfo(kernel, m_device, CL_KERNEL_WORK_GROUP_SIZE,
                                          sizeof(largest), &largest, nullptr);
    return largest;
  }

private:
  template <typename T>
  [[nodiscard]] T value_of(cl_device_id device, cl_device_info name) const {
    T value{};
    const cl_int code =
        m_next.clGetDeviceInfo(device, name, sizeof(value), // NOLINT(bugprone-sizeof-expression)
                               static_cast<void*>(&value), nullptr);
    return code == CL_SUCCESS ? value : T{};
  }

  const cl_icd_dispatch& m_next;
  cl_device_id m_device = nullptr;
};

bool has_suggestions(const DeviceAnswers& device) {
  const std::string extensions = " " + device.text(CL_DEVICE_EXTENSIONS) + " ";
  return extensions.find(fmt::format(" {} ", k_suggestion_extension)) != std::string::npos;
}

std::optional<LocalSize> suggested_size(const cl_icd_dispatch& next, const DeviceAnswers& device,
                                        const UnsizedLaunch& launch) {
  const auto suggest = reinterpret_cast<clGetKernelSuggestedLocalWorkSizeKHR_fn>(
      next.clGetExtensionFunctionAddressForPlatform(
          device.value<cl_platform_id>(CL_DEVICE_PLATFORM), k_suggestion));
  LocalSize size{1, 1, 1};
  constexpr LocalSize k_no_offset{}; // rusticl 25.0 refuses a null pointer
  const std::size_t* offset = launch.offset == nullptr ? k_no_offset.data() : launch.offset;
  if (suggest == nullptr || suggest(launch.queue, launch.kernel, launch.dimensions, offset,
                                    launch.global, size.data()) != CL_SUCCESS) {
    return std::nullopt;
  }
  return size;
}

bool is_cpu_of_pocl(const DeviceAnswers& device) {
  format::DeviceIdentity identity;
  identity.platform_name = device.platform_name();
  return format::device_family(identity) == format::DeviceFamily::pocl &&
         (device.value<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
}

} // namespace

std::optional<LocalSize> chosen_local_size(const cl_icd_dispatch& next,
                                           const UnsizedLaunch& launch) {
  LocalSize global{1, 1, 1};
  const bool can_be_asked = next.clGetCommandQueueInfo != nullptr &&
                            next.clGetExtensionFunctionAddressForPlatform != nullptr;
  if (launch.global == nullptr || launch.dimensions > global.size() || !can_be_asked) {
    return std::nullopt;
  }
  const DeviceAnswers device(next, launch.queue);
  if (has_suggestions(device)) {
    return suggested_size(next, device, launch);
  }
  if (!is_cpu_of_pocl(device)) {
    return std::nullopt;
  }
  std::copy_n(launch.global, launch.dimensions, global.begin());
  const PoclLimits limits{device.value<LocalSize>(CL_DEVICE_MAX_WORK_ITEM_SIZES),
                          device.largest_group(launch.kernel),
                          device.value<std::size_t>(CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE),
                          device.all_compute_units()};
  return pocl_local_size(limits, global);
}

} // namespace clbin::layer
