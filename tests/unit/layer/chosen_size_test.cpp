#include "layer/chosen_size.hpp"

#include <CL/cl_ext.h>

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <string>

namespace clbin::layer {
namespace {

// One device, whose answers a test sets.
struct Device {
  std::string extensions = "cl_khr_fp64";
  std::string platform = "Portable Computing Language";
  cl_device_type type = CL_DEVICE_TYPE_CPU;
  cl_int suggestion = CL_SUCCESS;
  bool has_function = true;
  bool is_part = false; // of a device with 64 compute units
};
Device& device() {
  static Device device;
  return device;
}

template <typename T>
T fake_handle(std::uintptr_t number) {
  return reinterpret_cast<T>(number); // NOLINT(performance-no-int-to-ptr): never dereferenced
}
const auto k_queue = fake_handle<cl_command_queue>(16);
const auto k_device = fake_handle<cl_device_id>(32);
const auto k_parent = fake_handle<cl_device_id>(48);

cl_int answer(const void* bytes, std::size_t count, std::size_t size, void* value,
              std::size_t* size_ret) {
  if (value != nullptr && size >= count) {
    std::memcpy(value, bytes, count);
  }
  if (size_ret != nullptr) {
    *size_ret = count;
  }
  return CL_SUCCESS;
}

cl_int CL_API_CALL queue_info(cl_command_queue queue, cl_command_queue_info name, std::size_t size,
                              void* value, std::size_t* size_ret) {
  EXPECT_EQ(queue, k_queue);
  EXPECT_EQ(name, cl_command_queue_info{CL_QUEUE_DEVICE});
  return answer(&k_device, sizeof k_device, size, value, size_ret);
}

cl_int CL_API_CALL device_info(cl_device_id asked, cl_device_info name, std::size_t size,
                               void* value, std::size_t* size_ret) {
  const auto number = [&](auto one) { return answer(&one, sizeof one, size, value, size_ret); };
  const std::string& extensions = device().extensions;
  switch (name) {
  case CL_DEVICE_EXTENSIONS:
    return answer(extensions.c_str(), extensions.size() + 1, size, value, size_ret);
  case CL_DEVICE_TYPE:
    return number(device().type);
  case CL_DEVICE_MAX_WORK_ITEM_SIZES:
    return number(LocalSize{4096, 4096, 4096});
  case CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
    return number(std::size_t{8});
  case CL_DEVICE_MAX_COMPUTE_UNITS:
    return number(cl_uint{asked == k_parent ? 64U : 2U});
  case CL_DEVICE_PARENT_DEVICE:
    return number(device().is_part && asked == k_device ? k_parent : nullptr);
  default:
    return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL platform_info(cl_platform_id, cl_platform_info, std::size_t size, void* value,
                                 std::size_t* size_ret) {
  const std::string& name = device().platform;
  return answer(name.c_str(), name.size() + 1, size, value, size_ret);
}

cl_int CL_API_CALL group_info(cl_kernel, cl_device_id, cl_kernel_work_group_info, std::size_t size,
                              void* value, std::size_t* size_ret) {
  const std::size_t most = 4096;
  return answer(&most, sizeof most, size, value, size_ret);
}

cl_int CL_API_CALL suggest(cl_command_queue, cl_kernel, cl_uint dimensions,
                           const std::size_t* offset, const std::size_t* global,
                           std::size_t* local) {
  if (offset == nullptr) {
    return CL_INVALID_GLOBAL_OFFSET; // as rusticl 25.0 answers
  }
  for (cl_uint i = 0; i < dimensions; ++i) {
    local[i] = global[i] / 2 + offset[i];
  }
  return device().suggestion;
}

void* CL_API_CALL function_of_platform(cl_platform_id, const char* name) {
  EXPECT_STREQ(name, "clGetKernelSuggestedLocalWorkSizeKHR");
  return device().has_function ? reinterpret_cast<void*>(suggest) : nullptr;
}

struct ChosenSize : ::testing::Test {
  ChosenSize() {
    device() = {};
    next.clGetCommandQueueInfo = queue_info;
    next.clGetDeviceInfo = device_info;
    next.clGetPlatformInfo = platform_info;
    next.clGetKernelWorkGroupInfo = group_info;
    next.clGetExtensionFunctionAddressForPlatform = function_of_platform;
  }

  [[nodiscard]] std::optional<LocalSize> chosen(cl_uint dimensions = 2) const {
    return chosen_local_size(next, {k_queue, nullptr, dimensions, offset.data(), global.data()});
  }

  cl_icd_dispatch next{};
  LocalSize offset{3, 5, 7};
  LocalSize global{640, 360, 9999};
};

TEST_F(ChosenSize, IsWhatTheDriverSuggests) {
  device().platform = "any";
  device().extensions = "cl_khr_fp64 cl_khr_suggested_local_work_size";
  EXPECT_EQ(chosen(), (LocalSize{323, 185, 1}));
  EXPECT_EQ(chosen(1), (LocalSize{323, 1, 1}));
  EXPECT_EQ(chosen_local_size(next, {k_queue, nullptr, 1, nullptr, global.data()}),
            (LocalSize{320, 1, 1}));
}

TEST_F(ChosenSize, IsUnknownIfTheDriverHasNoAnswer) {
  device().extensions = "cl_khr_suggested_local_work_size";
  device().suggestion = CL_INVALID_KERNEL_ARGS;
  EXPECT_EQ(chosen(), std::nullopt);
  device().suggestion = CL_SUCCESS;
  device().has_function = false;
  EXPECT_EQ(chosen(), std::nullopt);
}

TEST_F(ChosenSize, IsComputedForACpuOfPocl) {
  EXPECT_EQ(chosen(), (LocalSize{40, 1, 1}));
  EXPECT_EQ(chosen(1), (LocalSize{320, 1, 1}));
  device().type = CL_DEVICE_TYPE_GPU; // which has another rule
  EXPECT_EQ(chosen(), std::nullopt);
}

TEST_F(ChosenSize, DependsOnAllComputeUnitsOfASubDevice) {
  global = {4096, 1, 1};
  EXPECT_EQ(chosen(1), (LocalSize{2048, 1, 1}));
  device().is_part = true;
  EXPECT_EQ(chosen(1), (LocalSize{64, 1, 1}));
}

TEST_F(ChosenSize, IsUnknownOnOtherPlatforms) {
  device().platform = "Oclgrind";
  EXPECT_EQ(chosen(), std::nullopt);
}

TEST_F(ChosenSize, IsUnknownWithoutAGlobalSize) {
  EXPECT_EQ(chosen_local_size(next, {k_queue, nullptr, 1, nullptr, nullptr}), std::nullopt);
  EXPECT_EQ(chosen(4), std::nullopt);
}

TEST_F(ChosenSize, IsUnknownIfTheLoaderLacksAFunction) {
  next.clGetExtensionFunctionAddressForPlatform = nullptr;
  EXPECT_EQ(chosen(), std::nullopt);
  next.clGetExtensionFunctionAddressForPlatform = function_of_platform;
  next.clGetCommandQueueInfo = nullptr;
  EXPECT_EQ(chosen(), std::nullopt);
}

} // namespace
} // namespace clbin::layer
