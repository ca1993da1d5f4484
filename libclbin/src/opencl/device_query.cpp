#include "opencl/device_query.hpp"

#include "base/text.hpp"
#include "model/phone_gpu.hpp"

#include <cstring>

namespace clbin::opencl {
namespace {

constexpr cl_uint k_vendor_nvidia = 0x10de;
constexpr cl_uint k_vendor_amd = 0x1002;
constexpr cl_uint k_vendor_intel = 0x8086;

// Constants of cl_nv_device_attribute_query and cl_intel_device_attribute_query (cl_ext.h), under
// names that do not depend on the version of the headers.
constexpr cl_device_info k_compute_capability_major = 0x4000;
constexpr cl_device_info k_compute_capability_minor = 0x4001;
constexpr cl_device_info k_intel_ip_version = 0x4250;

// Prevents an endless loop if a driver reports a device as its own ancestor.
constexpr int k_max_sub_device_depth = 32;

// Longer values require a second call.
constexpr std::size_t k_usual_bytes = 512;
// No real value is longer; a driver that reports a larger size is wrong.
constexpr std::size_t k_max_bytes = 1U << 20U;

// Returns a value of any length. Empty if the object does not support the name.
template <typename Ask>
Result<std::vector<char>> query_bytes(std::string_view function, const Ask& ask) {
  std::vector<char> bytes(k_usual_bytes);
  std::size_t size = 0;
  cl_int code = ask(bytes.size(), bytes.data(), &size);
  if (code == CL_INVALID_VALUE) {
    // Either unknown or longer than the buffer. The size query distinguishes the two.
    size = 0;
    if (ask(0, nullptr, &size) != CL_SUCCESS || size <= k_usual_bytes || size > k_max_bytes) {
      return std::vector<char>();
    }
    bytes.assign(size, '\0');
    code = ask(bytes.size(), bytes.data(), &size);
  }
  if (code != CL_SUCCESS) {
    return call_failed(function, {}, code);
  }
  // Some drivers report a size that differs from the number of bytes that they wrote.
  bytes.resize(std::min(size, bytes.size()));
  return bytes;
}

std::string text_of(const std::vector<char>& bytes) {
  return {bytes.begin(), std::ranges::find(bytes, '\0')};
}

Result<std::vector<char>> device_bytes(const Driver& driver, cl_device_id device,
                                       cl_device_info name) {
  return query_bytes("clGetDeviceInfo", std::bind_front(driver.GetDeviceInfo, device, name));
}

// Returns 3 for "OpenCL 3.0 TEXT OF THE VENDOR", and 0 for text of any other form.
int major_version(std::string_view device_version) {
  constexpr std::string_view k_prefix = "OpenCL ";
  if (!device_version.starts_with(k_prefix) || device_version.size() == k_prefix.size()) {
    return 0;
  }
  const char digit = device_version[k_prefix.size()];
  return digit >= '0' && digit <= '9' ? digit - '0' : 0;
}

std::string version_text(cl_version version) {
  return fmt::format("{}.{}.{}", CL_VERSION_MAJOR(version), CL_VERSION_MINOR(version),
                     CL_VERSION_PATCH(version));
}

// Returns a value that consists of names with versions.
Result<std::vector<cl_name_version>> name_versions(const Driver& driver, cl_device_id device,
                                                   cl_device_info name) {
  CLBIN_TRY_ASSIGN(const auto bytes, device_bytes(driver, device, name));
  std::vector<cl_name_version> entries(bytes.size() / sizeof(cl_name_version));
  std::copy_n(bytes.data(), entries.size() * sizeof(cl_name_version),
              reinterpret_cast<char*>(entries.data()));
  return entries;
}

std::string_view name_of(const cl_name_version& entry) {
  return {entry.name, strnlen(entry.name, sizeof(entry.name))};
}

Result<std::vector<std::string>> opencl_c_versions(const Driver& driver, cl_device_id device,
                                                   std::string_view device_version) {
  std::vector<std::string> versions;
  if (major_version(device_version) >= 3) {
    CLBIN_TRY_ASSIGN(const auto entries,
                     name_versions(driver, device, CL_DEVICE_OPENCL_C_ALL_VERSIONS));
    for (const cl_name_version& entry : entries) {
      versions.push_back(fmt::format("{}:{}", name_of(entry), version_text(entry.version)));
    }
  }
  if (versions.empty()) {
    CLBIN_TRY_ASSIGN(std::string text, device_text(driver, device, CL_DEVICE_OPENCL_C_VERSION));
    if (!text.empty()) {
      versions.push_back(std::move(text));
    }
  }
  return versions;
}

Result<std::string> nvidia_architecture(const Driver& driver, cl_device_id device) {
  CLBIN_TRY_ASSIGN(const cl_uint major,
                   device_value<cl_uint>(driver, device, k_compute_capability_major));
  CLBIN_TRY_ASSIGN(const cl_uint minor,
                   device_value<cl_uint>(driver, device, k_compute_capability_minor));
  return major == 0 ? std::string() : fmt::format("sm_{}{}", major, minor);
}

// "12.55.8": architecture 10 bits, release 8, reserved 8, revision 6.
Result<std::string> intel_architecture(const Driver& driver, cl_device_id device) {
  CLBIN_TRY_ASSIGN(const cl_uint version,
                   device_value<cl_uint>(driver, device, k_intel_ip_version));
  return version == 0
             ? std::string()
             : fmt::format("{}.{}.{}", version >> 22U, (version >> 14U) & 0xffU, version & 0x3fU);
}

// Returns PoCL's build hash: the triple and CPU (or sm) of its binaries. Empty for other drivers.
std::string pocl_architecture(std::string_view device_version) {
  constexpr std::string_view k_mark = "HSTR: ";
  const std::size_t at = device_version.find(k_mark);
  return at == std::string_view::npos ? std::string()
                                      : std::string(device_version.substr(at + k_mark.size()));
}

Result<std::string> architecture_of(const Driver& driver, cl_device_id device,
                                    const format::DeviceIdentity& identity) {
  if (std::string pocl = pocl_architecture(identity.device_version); !pocl.empty()) {
    return pocl;
  }
  if (identity.vendor_id == k_vendor_nvidia) {
    return nvidia_architecture(driver, device);
  }
  if (identity.vendor_id == k_vendor_intel) {
    return intel_architecture(driver, device);
  }
  // ROCm's device name is the target id, "gfx90a:sramecc+:xnack-"; Mesa's is not.
  if (identity.vendor_id == k_vendor_amd && identity.device_name.starts_with("gfx")) {
    return identity.device_name;
  }
  // The driver's own texts do not depend on the process, but its binaries do.
  if (format::phone_gpu(identity) != format::PhoneGpu::none) {
    return identity.device_name + ", " + format::host_text();
  }
  return std::string();
}

// Constants of cl_khr_spirv_queries (cl_ext.h), under names that do not depend on the version of
// the headers.
constexpr cl_device_info k_spirv_instruction_sets = 0x12b9;
constexpr cl_device_info k_spirv_extensions = 0x12ba;
constexpr cl_device_info k_spirv_capabilities = 0x12bb;

// What a device has if a condition of these is true: it has the extension, or the value is not 0.
struct SpirvRow {
  std::uint32_t capability; // or k_none
  std::string_view spirv_extension;
  std::string_view extension; // empty: none
  cl_device_info value;       // 0: none
};
constexpr std::uint32_t k_none = ~std::uint32_t{0};
// In OpenCL 2.x without a query.
constexpr std::uint32_t k_features_of_2[] = {17, 19, 38, 58, 60};

// OpenCL SPIR-V Environment Specification, "Required Capabilities" and "Optional Capabilities", and
// the specifications of the extensions.
constexpr SpirvRow k_spirv_rows[] = {
    // Addresses, Linkage, Kernel, Vector16, Float16Buffer, Int64, Groups, Int16, Int8
    {4, "", "", 0},
    {5, "", "", 0},
    {6, "", "", 0},
    {7, "", "", 0},
    {8, "", "", 0},
    {11, "", "", 0},
    {18, "", "", 0},
    {22, "", "", 0},
    {39, "", "", 0},
    {9, "", "cl_khr_fp16", 0},
    {10, "", "cl_khr_fp64", CL_DEVICE_DOUBLE_FP_CONFIG},
    {12, "", "cl_khr_int64_base_atomics", 0},
    // ImageBasic, LiteralSampler, Sampled1D, Image1D, SampledBuffer, ImageBuffer
    {13, "", "", CL_DEVICE_IMAGE_SUPPORT},
    {20, "", "", CL_DEVICE_IMAGE_SUPPORT},
    {43, "", "", CL_DEVICE_IMAGE_SUPPORT},
    {44, "", "", CL_DEVICE_IMAGE_SUPPORT},
    {46, "", "", CL_DEVICE_IMAGE_SUPPORT},
    {47, "", "", CL_DEVICE_IMAGE_SUPPORT},
    {14, "", "", CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS},
    {15, "", "cl_khr_mipmap_image", 0},
    // Pipes, PipeStorage, DeviceEnqueue, GenericPointer, SubgroupDispatch
    {17, "", "", CL_DEVICE_PIPE_SUPPORT},
    {60, "", "", CL_DEVICE_PIPE_SUPPORT},
    {19, "", "", CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES},
    {38, "", "", CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT},
    {58, "", "", CL_DEVICE_MAX_NUM_SUB_GROUPS},
    // Subgroups
    {61, "", "cl_khr_subgroup_non_uniform_vote", 0},
    {62, "", "cl_khr_subgroup_non_uniform_vote", 0},
    {63, "", "cl_khr_subgroup_non_uniform_arithmetic", 0},
    {64, "", "cl_khr_subgroup_ballot", 0},
    {65, "", "cl_khr_subgroup_shuffle", 0},
    {66, "", "cl_khr_subgroup_shuffle_relative", 0},
    {67, "", "cl_khr_subgroup_clustered_reduce", 0},
    {6026, "SPV_KHR_subgroup_rotate", "cl_khr_subgroup_rotate", 0},
    {5568, "SPV_INTEL_subgroups", "cl_intel_spirv_subgroups", 0},
    {5569, "SPV_INTEL_subgroups", "cl_intel_spirv_subgroups", 0},
    {5570, "SPV_INTEL_subgroups", "cl_intel_spirv_subgroups", 0},
    // Other extensions
    {5055, "SPV_KHR_shader_clock", "cl_khr_kernel_clock", 0},
    {5629, "SPV_KHR_expect_assume", "cl_khr_expect_assume", 0},
    {6017, "SPV_KHR_integer_dot_product", "cl_khr_integer_dot_product", 0},
    {6018, "SPV_KHR_integer_dot_product", "cl_khr_integer_dot_product", 0},
    {6019, "SPV_KHR_integer_dot_product", "cl_khr_integer_dot_product", 0},
    {5612, "SPV_EXT_shader_atomic_float_min_max", "cl_ext_float_atomics", 0},
    {5613, "SPV_EXT_shader_atomic_float_min_max", "cl_ext_float_atomics", 0},
    {5616, "SPV_EXT_shader_atomic_float_min_max", "cl_ext_float_atomics", 0},
    {6033, "SPV_EXT_shader_atomic_float_add", "cl_ext_float_atomics", 0},
    {6034, "SPV_EXT_shader_atomic_float_add", "cl_ext_float_atomics", 0},
    {6095, "SPV_EXT_shader_atomic_float16_add", "cl_ext_float_atomics", 0},
    {6400, "SPV_KHR_uniform_group_instructions", "cl_khr_work_group_uniform_arithmetic", 0},
    {6025, "SPV_KHR_bit_instructions", "cl_khr_extended_bit_ops", 0},
    {k_none, "SPV_KHR_linkonce_odr", "cl_khr_spirv_linkonce_odr", 0},
    {k_none, "SPV_KHR_no_integer_wrap_decoration", "cl_khr_spirv_no_integer_wrap_decoration", 0},
};

template <typename Item>
Result<std::vector<Item>> listed(const Driver& driver, cl_device_id device, cl_device_info name) {
  CLBIN_TRY_ASSIGN(const auto bytes, device_bytes(driver, device, name));
  std::vector<Item> items(bytes.size() / sizeof(Item));
  if (!items.empty()) { // memcpy takes no null pointer, even for 0 bytes
    std::memcpy(items.data(), bytes.data(), items.size() * sizeof(Item));
  }
  return items;
}

Result<std::vector<std::string>> listed_texts(const Driver& driver, cl_device_id device,
                                              cl_device_info name) {
  CLBIN_TRY_ASSIGN(const auto texts, listed<const char*>(driver, device, name));
  std::vector<std::string> strings;
  for (const char* const text : texts) {
    strings.emplace_back(text == nullptr ? "" : text);
  }
  return strings;
}

Result<bool> is_met(const Driver& driver, cl_device_id device,
                    const std::vector<std::string_view>& extensions, const SpirvRow& row) {
  if (row.extension.empty() && row.value == 0) {
    return true;
  }
  if (std::ranges::find(extensions, row.extension) != extensions.end()) {
    return true;
  }
  if (row.value == 0) {
    return false;
  }
  CLBIN_TRY_ASSIGN(const auto value, device_bytes(driver, device, row.value));
  return std::ranges::any_of(value, [](char byte) { return byte != 0; });
}

Result<format::SpirvFeatures> derived_features(const Driver& driver, cl_device_id device,
                                               std::string_view version,
                                               const std::vector<std::string_view>& extensions) {
  const bool is_2 = major_version(version) == 2;
  format::SpirvFeatures features{{}, {}, {"OpenCL.std"}};
  for (const SpirvRow& row : k_spirv_rows) {
    const bool is_of_2 =
        std::ranges::find(k_features_of_2, row.capability) != std::end(k_features_of_2);
    CLBIN_TRY_ASSIGN(const bool has_it, is_met(driver, device, extensions, row));
    if (!has_it && !(is_2 && is_of_2)) {
      continue;
    }
    if (row.capability != k_none) {
      features.capabilities.push_back(row.capability);
    }
    if (!row.spirv_extension.empty()) {
      features.extensions.emplace_back(row.spirv_extension);
    }
  }
  return features;
}

// `none` is the code that means an empty list.
template <typename Item, typename Ask>
Result<std::vector<Item>> query_list(std::string_view function, cl_int none, const Ask& ask) {
  cl_uint count = 0;
  cl_int code = ask(0, nullptr, &count);
  if (code == none || (code == CL_SUCCESS && count == 0)) {
    return std::vector<Item>();
  }
  std::vector<Item> items(count);
  if (code == CL_SUCCESS) {
    code = ask(count, items.data(), nullptr);
  }
  if (code != CL_SUCCESS) {
    return call_failed(function, {}, code);
  }
  return items;
}

} // namespace

Result<std::vector<cl_platform_id>> list_platforms(const Driver& driver) {
  constexpr cl_int k_platform_not_found = -1001; // cl_khr_icd
  return query_list<cl_platform_id>("clGetPlatformIDs", k_platform_not_found,
                                    driver.GetPlatformIDs);
}

Result<std::vector<cl_device_id>> list_devices(const Driver& driver, cl_platform_id platform) {
  return query_list<cl_device_id>(
      "clGetDeviceIDs", CL_DEVICE_NOT_FOUND,
      std::bind_front(driver.GetDeviceIDs, platform, cl_device_type{CL_DEVICE_TYPE_ALL}));
}

Result<std::string> device_text(const Driver& driver, cl_device_id device, cl_device_info name) {
  CLBIN_TRY_ASSIGN(const auto bytes, device_bytes(driver, device, name));
  return text_of(bytes);
}

Result<std::string> platform_text(const Driver& driver, cl_platform_id platform,
                                  cl_platform_info name) {
  CLBIN_TRY_ASSIGN(
      const auto bytes,
      query_bytes("clGetPlatformInfo", std::bind_front(driver.GetPlatformInfo, platform, name)));
  return text_of(bytes);
}

Result<format::SpirvFeatures> query_spirv_features(const Driver& driver, cl_device_id device) {
  CLBIN_TRY_ASSIGN(const std::string text, device_text(driver, device, CL_DEVICE_EXTENSIONS));
  CLBIN_TRY_ASSIGN(const std::string version, device_text(driver, device, CL_DEVICE_VERSION));
  const auto extensions = base::words_between(" ", text);
  const bool has_queries =
      std::ranges::find(extensions, "cl_khr_spirv_queries") != extensions.end() ||
      version >= "OpenCL 3.1"; // which requires them; the texts of older versions are less
  format::SpirvFeatures features;
  if (has_queries) {
    CLBIN_TRY_ASSIGN(features.capabilities,
                     listed<std::uint32_t>(driver, device, k_spirv_capabilities));
    CLBIN_TRY_ASSIGN(features.extensions, listed_texts(driver, device, k_spirv_extensions));
    CLBIN_TRY_ASSIGN(features.instruction_sets,
                     listed_texts(driver, device, k_spirv_instruction_sets));
  } else {
    CLBIN_TRY_ASSIGN(features, derived_features(driver, device, version, extensions));
  }
  // OpenCL SPIR-V Environment Specification, "Validation Rules".
  CLBIN_TRY_ASSIGN(const auto bits, device_value<cl_uint>(driver, device, CL_DEVICE_ADDRESS_BITS));
  features.addressing_model = bits / 32; // Physical32 or Physical64
  return features;
}

Result<std::vector<std::string>> device_extensions(const Driver& driver, cl_device_id device) {
  CLBIN_TRY_ASSIGN(const std::string text, device_text(driver, device, CL_DEVICE_EXTENSIONS));
  const auto words = base::words_between(" ", text);
  std::vector<std::string> names(words.begin(), words.end());
  CLBIN_TRY_ASSIGN(const auto features, name_versions(driver, device, CL_DEVICE_OPENCL_C_FEATURES));
  for (const cl_name_version& feature : features) {
    names.emplace_back(name_of(feature));
  }
  return names;
}

Result<cl_platform_id> device_platform(const Driver& driver, cl_device_id device) {
  return device_value<cl_platform_id>(driver, device, CL_DEVICE_PLATFORM);
}

Result<cl_device_id> root_device(const Driver& driver, cl_device_id device) {
  for (int depth = 0; depth < k_max_sub_device_depth; ++depth) {
    CLBIN_TRY_ASSIGN(cl_device_id parent,
                     device_value<cl_device_id>(driver, device, CL_DEVICE_PARENT_DEVICE));
    if (parent == nullptr) {
      return device;
    }
    device = parent;
  }
  return base::fail(ErrorCode::opencl_call, "the device has more than {} generations of parents",
                    k_max_sub_device_depth);
}

Result<format::DeviceIdentity> query_identity(const Driver& driver, cl_device_id any_device) {
  CLBIN_TRY_ASSIGN(cl_device_id device, root_device(driver, any_device));
  format::DeviceIdentity identity;
  CLBIN_TRY_ASSIGN(identity.device_name, device_text(driver, device, CL_DEVICE_NAME));
  CLBIN_TRY_ASSIGN(identity.vendor, device_text(driver, device, CL_DEVICE_VENDOR));
  CLBIN_TRY_ASSIGN(identity.driver_version, device_text(driver, device, CL_DRIVER_VERSION));
  CLBIN_TRY_ASSIGN(identity.device_version, device_text(driver, device, CL_DEVICE_VERSION));
  CLBIN_TRY_ASSIGN(identity.vendor_id, device_value<cl_uint>(driver, device, CL_DEVICE_VENDOR_ID));
  CLBIN_TRY_ASSIGN(identity.address_bits,
                   device_value<cl_uint>(driver, device, CL_DEVICE_ADDRESS_BITS));
  CLBIN_TRY_ASSIGN(const std::string il_version, device_text(driver, device, CL_DEVICE_IL_VERSION));
  const auto il_versions = base::words_between(" ;", il_version);
  identity.il_versions.assign(il_versions.begin(), il_versions.end());
  CLBIN_TRY_ASSIGN(cl_platform_id platform, device_platform(driver, device));
  if (platform == nullptr) {
    return base::fail(ErrorCode::opencl_call, "the device '{}' does not report its platform",
                      identity.device_name);
  }
  CLBIN_TRY_ASSIGN(identity.platform_name, platform_text(driver, platform, CL_PLATFORM_NAME));
  CLBIN_TRY_ASSIGN(identity.platform_version, platform_text(driver, platform, CL_PLATFORM_VERSION));
  if (format::device_family(identity) == format::DeviceFamily::pocl) {
    // PoCL adds the index of the device, so that identical devices differ (0x8086, 0x8087).
    identity.vendor_id = 0;
  }
  CLBIN_TRY_ASSIGN(identity.opencl_c_versions,
                   opencl_c_versions(driver, device, identity.device_version));
  CLBIN_TRY_ASSIGN(identity.architecture, architecture_of(driver, device, identity));
  return identity;
}

} // namespace clbin::opencl
