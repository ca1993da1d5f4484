#include "layer/chosen_size.hpp"

#include "layer/queries.hpp"

#include <numeric>

namespace clbin::layer {

namespace {

// PoCL tries z first, then y, then x.
constexpr std::array<std::size_t, 3> k_order{2, 1, 0};

// Returns the largest divisor of `number` up to `limit`, which is not 0.
std::size_t largest_divisor(std::size_t number, std::size_t limit) {
  std::size_t divisor = std::min(number, limit);
  while (number % divisor != 0) {
    --divisor;
  }
  return divisor;
}

// The steps of PoCL's function, each on the result of the one before.
class SizeSearch {
public:
  SizeSearch(const PoclLimits& limits, const LocalSize& global)
      : m_limits(limits), m_global(global) {
    for (std::size_t i = 0; i < m_global.size(); ++i) {
      m_grain[i] = std::gcd(limits.preferred_multiple, global[i]);
    }
  }

  // Returns std::nullopt if PoCL has no choice.
  [[nodiscard]] std::optional<LocalSize> run() {
    if (std::ranges::any_of(k_order, [&](auto i) { return most_items(i) < m_grain[i]; })) {
      return std::nullopt;
    }
    start();
    shrink();
    split();
    return m_local;
  }

private:
  // Makes each dimension as large as it can be alone.
  void start() {
    for (std::size_t i = 0; i < m_global.size(); ++i) {
      const std::size_t steps =
          largest_divisor(m_global[i] / m_grain[i], most_items(i) / m_grain[i]);
      m_local[i] = most_items(i) > 1 ? steps * m_grain[i] : 1;
    }
  }

  // Halves, or gives up, one dimension at a time until a work-group is not too large.
  void shrink() {
    while (group_size() > m_limits.largest_group) {
      if (!divide_one(2) && !give_up_the_least_grain()) {
        (void)give_up_first([](std::size_t) { return true; });
      }
    }
  }

  // Makes at least one work-group a compute unit, unless they become too small.
  void split() {
    const std::size_t least = std::min(4 * m_limits.preferred_multiple, m_limits.largest_group);
    for (;;) {
      const std::size_t splits = m_limits.compute_units / group_count();
      if (splits <= 1 || group_size() < splits * least) {
        return;
      }
      if (!split_by_at_most(splits) && !give_up_the_least_size(least)) {
        return;
      }
    }
  }

  [[nodiscard]] std::size_t most_items(std::size_t i) const {
    return std::min(m_limits.most_items[i], m_global[i]);
  }
  [[nodiscard]] std::size_t group_size() const { return m_local[0] * m_local[1] * m_local[2]; }
  [[nodiscard]] std::size_t group_count() const {
    return m_global[0] / m_local[0] * (m_global[1] / m_local[1]) * (m_global[2] / m_local[2]);
  }

  bool divide(std::size_t i, std::size_t by) {
    const std::size_t size = m_local[i] / by;
    const bool can_be = m_local[i] % by == 0 && size % m_grain[i] == 0 && m_global[i] % size == 0;
    m_local[i] /= can_be ? by : 1;
    return can_be;
  }

  bool divide_one(std::size_t by) {
    return std::ranges::any_of(k_order, [&](std::size_t i) { return divide(i, by); });
  }

  bool split_by_at_most(std::size_t splits) {
    while (splits > 1 && !divide_one(splits)) {
      --splits;
    }
    return splits > 1;
  }

  bool give_up_the_least_grain() {
    const std::size_t least = *std::min_element(m_grain.begin(), m_grain.end());
    return give_up_first([&](std::size_t i) { return m_grain[i] == least; });
  }

  bool give_up_the_least_size(std::size_t least_group) {
    const std::size_t least = *std::min_element(m_local.begin(), m_local.end());
    return give_up_first([&](std::size_t i) {
      return m_local[i] == least && group_size() / m_local[i] >= least_group;
    });
  }

  template <typename Condition>
  bool give_up_first(const Condition& condition) {
    const auto found = std::ranges::find_if(
        k_order, [&](std::size_t i) { return m_local[i] > 1 && condition(i); });
    if (found == k_order.end()) {
      return false;
    }
    m_local[*found] = 1;
    return true;
  }

  const PoclLimits& m_limits;
  const LocalSize& m_global;
  LocalSize m_grain{};
  LocalSize m_local{1, 1, 1};
};

} // namespace

std::optional<LocalSize> pocl_local_size(const PoclLimits& limits,
                                         const LocalSize& global) noexcept {
  if (std::ranges::count(global, std::size_t{0}) != 0 || limits.largest_group == 0 ||
      limits.preferred_multiple == 0 || limits.compute_units == 0) {
    return std::nullopt;
  }
  return SizeSearch(limits, global).run();
}

namespace {

constexpr const char* k_suggestion = "clGetKernelSuggestedLocalWorkSizeKHR";
constexpr std::string_view k_suggestion_extension = "cl_khr_suggested_local_work_size";

struct Device {
  opencl::Driver driver;
  cl_device_id id;
};

// Zeros if the query fails.
template <typename T>
T value_of(const Device& device, cl_device_info name) {
  return opencl::device_value<T>(device.driver, device.id, name).value_or(T{});
}

std::size_t largest_group(const Device& device, cl_kernel kernel) {
  std::size_t largest = 0;
  (void)device.driver.GetKernelWorkGroupInfo(kernel, device.id, CL_KERNEL_WORK_GROUP_SIZE,
                                             sizeof(largest), &largest, nullptr);
  return largest;
}

bool has_suggestions(const Device& device) {
  const auto extensions = opencl::device_text(device.driver, device.id, CL_DEVICE_EXTENSIONS);
  return fmt::format(" {} ", extensions.value_or(std::string()))
             .find(fmt::format(" {} ", k_suggestion_extension)) != std::string::npos;
}

std::optional<LocalSize> suggested_size(const cl_icd_dispatch& next, const Device& device,
                                        const UnsizedLaunch& launch) {
  const auto suggest = reinterpret_cast<clGetKernelSuggestedLocalWorkSizeKHR_fn>(
      next.clGetExtensionFunctionAddressForPlatform(
          value_of<cl_platform_id>(device, CL_DEVICE_PLATFORM), k_suggestion));
  LocalSize size{1, 1, 1};
  constexpr LocalSize k_no_offset{}; // rusticl 25.0 refuses a null pointer
  const std::size_t* offset = launch.offset == nullptr ? k_no_offset.data() : launch.offset;
  if (suggest == nullptr || suggest(launch.queue, launch.kernel, launch.dimensions, offset,
                                    launch.global, size.data()) != CL_SUCCESS) {
    return std::nullopt;
  }
  return size;
}

bool is_cpu_of_pocl(const Device& device) {
  format::DeviceIdentity identity;
  identity.platform_name =
      opencl::platform_text(device.driver, value_of<cl_platform_id>(device, CL_DEVICE_PLATFORM),
                            CL_PLATFORM_NAME)
          .value_or(std::string());
  return format::device_family(identity) == format::DeviceFamily::pocl &&
         (value_of<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
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
  Device device{{}, queue_device(next, launch.queue)};
  device.driver.GetDeviceInfo = next.clGetDeviceInfo;
  device.driver.GetPlatformInfo = next.clGetPlatformInfo;
  device.driver.GetKernelWorkGroupInfo = next.clGetKernelWorkGroupInfo;
  if (has_suggestions(device)) {
    return suggested_size(next, device, launch);
  }
  if (!is_cpu_of_pocl(device)) {
    return std::nullopt;
  }
  std::copy_n(launch.global, launch.dimensions, global.begin());
  // PoCL asks the parent of a sub-device, which has all compute units.
  const cl_device_id root = opencl::root_device(device.driver, device.id).value_or(device.id);
  const PoclLimits limits{
      value_of<LocalSize>(device, CL_DEVICE_MAX_WORK_ITEM_SIZES),
      largest_group(device, launch.kernel),
      value_of<std::size_t>(device, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE),
      value_of<cl_uint>({device.driver, root}, CL_DEVICE_MAX_COMPUTE_UNITS)};
  return pocl_local_size(limits, global);
}

} // namespace clbin::layer
