#include "worker/installed_devices.hpp"

#include "base/text.hpp"
#include "opencl/device_query.hpp"

#include <cstring>
#include <fmt/format.h>

namespace oclcc::worker {

namespace {

using clbin::opencl::Driver;

enum class Form : std::uint8_t {
  text,
  words,         // text, one word after the other
  boolean,       // cl_bool
  number,        // cl_uint, cl_ulong or size_t, by the driver's size
  hexadecimal,   // likewise
  bytes,         // likewise
  bits,          // likewise
  megahertz,     // likewise
  nanoseconds,   // likewise
  sizes,         // size_t[]
  flags,         // a bit field with names
  choice,        // one of some names
  name_versions, // cl_name_version[]
  version,       // cl_version
};

struct Name {
  cl_ulong value;
  std::string_view text;
};

struct Property {
  cl_device_info name;
  std::string_view label;
  Form form;
  std::span<const Name> names = {};
};

constexpr Name k_types[] = {{CL_DEVICE_TYPE_DEFAULT, "default"},
                            {CL_DEVICE_TYPE_CPU, "CPU"},
                            {CL_DEVICE_TYPE_GPU, "GPU"},
                            {CL_DEVICE_TYPE_ACCELERATOR, "accelerator"},
                            {CL_DEVICE_TYPE_CUSTOM, "custom"}};
constexpr Name k_float_flags[] = {
    {CL_FP_DENORM, "denormals"},
    {CL_FP_INF_NAN, "infinity and NaN"},
    {CL_FP_ROUND_TO_NEAREST, "round to nearest"},
    {CL_FP_ROUND_TO_ZERO, "round to zero"},
    {CL_FP_ROUND_TO_INF, "round to infinity"},
    {CL_FP_FMA, "fused multiply-add"},
    {CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, "correctly rounded divide and sqrt"},
    {CL_FP_SOFT_FLOAT, "software"}};
constexpr Name k_queue_flags[] = {{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, "out of order"},
                                  {CL_QUEUE_PROFILING_ENABLE, "profiling"},
                                  {CL_QUEUE_ON_DEVICE, "on device"},
                                  {CL_QUEUE_ON_DEVICE_DEFAULT, "on device by default"}};
constexpr Name k_execution_flags[] = {{CL_EXEC_KERNEL, "kernels"},
                                      {CL_EXEC_NATIVE_KERNEL, "native kernels"}};
constexpr Name k_svm_flags[] = {{CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, "coarse-grain buffers"},
                                {CL_DEVICE_SVM_FINE_GRAIN_BUFFER, "fine-grain buffers"},
                                {CL_DEVICE_SVM_FINE_GRAIN_SYSTEM, "fine-grain system"},
                                {CL_DEVICE_SVM_ATOMICS, "atomics"}};
constexpr Name k_atomic_flags[] = {{CL_DEVICE_ATOMIC_ORDER_RELAXED, "relaxed"},
                                   {CL_DEVICE_ATOMIC_ORDER_ACQ_REL, "acquire-release"},
                                   {CL_DEVICE_ATOMIC_ORDER_SEQ_CST, "sequentially consistent"},
                                   {CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM, "work-item scope"},
                                   {CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP, "work-group scope"},
                                   {CL_DEVICE_ATOMIC_SCOPE_DEVICE, "device scope"},
                                   {CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES, "all-devices scope"}};
constexpr Name k_affinity_flags[] = {
    {CL_DEVICE_AFFINITY_DOMAIN_NUMA, "NUMA"},
    {CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE, "L4 cache"},
    {CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE, "L3 cache"},
    {CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE, "L2 cache"},
    {CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE, "L1 cache"},
    {CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE, "next partitionable"}};
constexpr Name k_local_memory_types[] = {
    {CL_NONE, "none"}, {CL_LOCAL, "dedicated"}, {CL_GLOBAL, "in global memory"}};
constexpr Name k_cache_types[] = {
    {CL_NONE, "none"}, {CL_READ_ONLY_CACHE, "read-only"}, {CL_READ_WRITE_CACHE, "read-write"}};

// Numbers are those of extensions: not every version of the headers has their names.
constexpr Property k_properties[] = {
    {CL_DEVICE_NAME, "name", Form::text},
    {CL_DEVICE_VENDOR, "vendor", Form::text},
    {CL_DEVICE_VENDOR_ID, "vendor id", Form::hexadecimal},
    {CL_DEVICE_TYPE, "type", Form::flags, k_types},
    {CL_DEVICE_PROFILE, "profile", Form::text},
    {CL_DEVICE_VERSION, "version", Form::text},
    {CL_DRIVER_VERSION, "driver version", Form::text},
    {CL_DEVICE_OPENCL_C_VERSION, "OpenCL C version", Form::text},
    {CL_DEVICE_OPENCL_C_ALL_VERSIONS, "OpenCL C versions", Form::name_versions},
    {CL_DEVICE_OPENCL_C_FEATURES, "OpenCL C features", Form::name_versions},
    {CL_DEVICE_IL_VERSION, "IL versions", Form::words},
    {CL_DEVICE_NUMERIC_VERSION, "numeric version", Form::version},
    {CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, "latest conformance passed", Form::text},
    {CL_DEVICE_AVAILABLE, "available", Form::boolean},
    {CL_DEVICE_COMPILER_AVAILABLE, "compiler available", Form::boolean},
    {CL_DEVICE_LINKER_AVAILABLE, "linker available", Form::boolean},
    {CL_DEVICE_ADDRESS_BITS, "address bits", Form::number},
    {CL_DEVICE_ENDIAN_LITTLE, "little-endian", Form::boolean},
    {CL_DEVICE_EXECUTION_CAPABILITIES, "executes", Form::flags, k_execution_flags},

    {CL_DEVICE_MAX_COMPUTE_UNITS, "compute units", Form::number},
    {CL_DEVICE_MAX_CLOCK_FREQUENCY, "clock", Form::megahertz},
    {CL_DEVICE_PROFILING_TIMER_RESOLUTION, "timer resolution", Form::nanoseconds},
    {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, "work-item dimensions", Form::number},
    {CL_DEVICE_MAX_WORK_ITEM_SIZES, "largest work-item sizes", Form::sizes},
    {CL_DEVICE_MAX_WORK_GROUP_SIZE, "largest work-group", Form::number},
    {CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, "preferred work-group multiple", Form::number},
    {CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, "non-uniform work-groups", Form::boolean},
    {CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, "work-group collectives", Form::boolean},
    {CL_DEVICE_MAX_NUM_SUB_GROUPS, "largest number of sub-groups", Form::number},
    {CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, "sub-groups progress independently",
     Form::boolean},
    {CL_DEVICE_MAX_PARAMETER_SIZE, "kernel arguments", Form::bytes},
    {CL_DEVICE_PRINTF_BUFFER_SIZE, "printf buffer", Form::bytes},

    {CL_DEVICE_GLOBAL_MEM_SIZE, "global memory", Form::bytes},
    {CL_DEVICE_MAX_MEM_ALLOC_SIZE, "largest allocation", Form::bytes},
    {CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, "global memory cache", Form::choice, k_cache_types},
    {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, "global memory cache size", Form::bytes},
    {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, "global memory cache line", Form::bytes},
    {CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, "largest global variable", Form::bytes},
    {CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, "preferred total of global variables",
     Form::bytes},
    {CL_DEVICE_LOCAL_MEM_TYPE, "local memory type", Form::choice, k_local_memory_types},
    {CL_DEVICE_LOCAL_MEM_SIZE, "local memory", Form::bytes},
    {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, "largest constant buffer", Form::bytes},
    {CL_DEVICE_MAX_CONSTANT_ARGS, "constant arguments", Form::number},
    {CL_DEVICE_MEM_BASE_ADDR_ALIGN, "base address alignment", Form::bits},
    {CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, "smallest alignment of a type", Form::bytes},
    {CL_DEVICE_HOST_UNIFIED_MEMORY, "memory unified with the host", Form::boolean},
    {CL_DEVICE_ERROR_CORRECTION_SUPPORT, "error correction", Form::boolean},
    {CL_DEVICE_SVM_CAPABILITIES, "shared virtual memory", Form::flags, k_svm_flags},
    {CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, "atomic memory", Form::flags, k_atomic_flags},
    {CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, "atomic fences", Form::flags, k_atomic_flags},
    {CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, "generic address space", Form::boolean},
    {CL_DEVICE_PIPE_SUPPORT, "pipes", Form::boolean},
    {CL_DEVICE_MAX_PIPE_ARGS, "pipe arguments", Form::number},
    {CL_DEVICE_PIPE_MAX_PACKET_SIZE, "largest pipe packet", Form::bytes},

    {CL_DEVICE_SINGLE_FP_CONFIG, "single precision", Form::flags, k_float_flags},
    {CL_DEVICE_DOUBLE_FP_CONFIG, "double precision", Form::flags, k_float_flags},
    {0x1033, "half precision", Form::flags, k_float_flags},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, "preferred vector width, char", Form::number},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, "preferred vector width, short", Form::number},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, "preferred vector width, int", Form::number},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, "preferred vector width, long", Form::number},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, "preferred vector width, half", Form::number},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, "preferred vector width, float", Form::number},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, "preferred vector width, double", Form::number},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, "native vector width, char", Form::number},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, "native vector width, short", Form::number},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, "native vector width, int", Form::number},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, "native vector width, long", Form::number},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, "native vector width, half", Form::number},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, "native vector width, float", Form::number},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, "native vector width, double", Form::number},

    {CL_DEVICE_IMAGE_SUPPORT, "images", Form::boolean},
    {CL_DEVICE_IMAGE2D_MAX_WIDTH, "largest 2D image width", Form::number},
    {CL_DEVICE_IMAGE2D_MAX_HEIGHT, "largest 2D image height", Form::number},
    {CL_DEVICE_IMAGE3D_MAX_WIDTH, "largest 3D image width", Form::number},
    {CL_DEVICE_IMAGE3D_MAX_HEIGHT, "largest 3D image height", Form::number},
    {CL_DEVICE_IMAGE3D_MAX_DEPTH, "largest 3D image depth", Form::number},
    {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, "largest image from a buffer, pixels", Form::number},
    {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, "largest image array", Form::number},
    {CL_DEVICE_IMAGE_PITCH_ALIGNMENT, "image pitch alignment, pixels", Form::number},
    {CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, "image base alignment, pixels", Form::number},
    {CL_DEVICE_MAX_READ_IMAGE_ARGS, "read image arguments", Form::number},
    {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, "write image arguments", Form::number},
    {CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, "read-write image arguments", Form::number},
    {CL_DEVICE_MAX_SAMPLERS, "samplers", Form::number},

    {CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, "host queues", Form::flags, k_queue_flags},
    {CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, "device queues", Form::flags, k_queue_flags},
    {CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, "device queue, preferred size", Form::bytes},
    {CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, "device queue, largest size", Form::bytes},
    {CL_DEVICE_MAX_ON_DEVICE_QUEUES, "device queues at once", Form::number},
    {CL_DEVICE_MAX_ON_DEVICE_EVENTS, "device events at once", Form::number},
    {CL_DEVICE_PARTITION_MAX_SUB_DEVICES, "sub-devices", Form::number},
    {CL_DEVICE_PARTITION_AFFINITY_DOMAIN, "partition affinity", Form::flags, k_affinity_flags},
    {CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, "prefers user's sync for interop", Form::boolean},

    {0x4000, "compute capability, major", Form::number},
    {0x4001, "compute capability, minor", Form::number},
    {0x4002, "registers a work-group", Form::number},
    {0x4003, "warp size", Form::number},
    {0x4007, "copy engines", Form::number},
    {0x4004, "copies while it computes", Form::boolean},
    {0x4005, "kernels have a time limit", Form::boolean},
    {0x4006, "integrated memory", Form::boolean},
    {0x400A, "PCI domain", Form::number},
    {0x4008, "PCI bus", Form::number},
    {0x4009, "PCI slot", Form::number},
    {0x4038, "board name", Form::text},
    {0x4043, "wavefront width", Form::number},
    {0x4250, "Intel IP version", Form::version},

    {CL_DEVICE_BUILT_IN_KERNELS, "built-in kernels", Form::text},
    {CL_DEVICE_EXTENSIONS, "extensions", Form::words},
};

// No valid result is longer: a driver that reports more has a wrong size.
constexpr std::size_t k_max_answer_bytes = 1U << 20U;

// Returns an empty text if the device does not support the name.
std::string ask(const Driver& driver, cl_device_id device, cl_device_info name) {
  const auto bytes = clbin::opencl::ask_list<char>(
      std::bind_front(driver.GetDeviceInfo, device, name), k_max_answer_bytes);
  return bytes ? std::string(bytes->begin(), bytes->end()) : std::string();
}

template <typename T>
T value_at(const std::string& bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

std::optional<cl_ulong> integer_of(const std::string& bytes) {
  if (bytes.size() == sizeof(cl_uint)) {
    return value_at<cl_uint>(bytes, 0);
  }
  if (bytes.size() == sizeof(cl_ulong)) {
    return value_at<cl_ulong>(bytes, 0);
  }
  return std::nullopt;
}

std::string text_of(const std::string& bytes) {
  return bytes.substr(0, bytes.find('\0'));
}

std::string format_bytes(cl_ulong bytes) {
  constexpr std::string_view units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  auto amount = static_cast<double>(bytes);
  while (amount >= 1024.0 && unit + 1 < std::size(units)) {
    amount /= 1024.0;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes)
                   : fmt::format("{:.4g} {} ({} bytes)", amount, units[unit], bytes);
}

std::string format_flags(cl_ulong value, std::span<const Name> names) {
  std::vector<std::string> words;
  for (const Name& name : names) {
    if ((value & name.value) != 0) {
      words.emplace_back(name.text);
      value &= ~name.value;
    }
  }
  if (value != 0) {
    words.push_back(fmt::format("{:#x}", value));
  }
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

std::string format_choice(cl_ulong value, std::span<const Name> names) {
  const auto found = std::ranges::find(names, value, &Name::value);
  return found == names.end() ? fmt::format("{:#x}", value) : std::string(found->text);
}

std::string format_version(cl_ulong version) {
  return fmt::format("{}.{}.{}", version >> 22U, (version >> 12U) & 0x3ffU, version & 0xfffU);
}

std::string format_sizes(const std::string& bytes) {
  std::vector<std::string> words;
  for (std::size_t at = 0; bytes.size() - at >= sizeof(std::size_t); at += sizeof(std::size_t)) {
    words.push_back(std::to_string(value_at<std::size_t>(bytes, at)));
  }
  return fmt::format("{}", fmt::join(words, " x "));
}

std::string format_name_versions(const std::string& bytes) {
  std::vector<std::string> words;
  for (std::size_t at = 0; bytes.size() - at >= sizeof(cl_name_version);
       at += sizeof(cl_name_version)) {
    const auto entry = value_at<cl_name_version>(bytes, at);
    const std::string_view name(entry.name, strnlen(entry.name, sizeof(entry.name)));
    words.push_back(fmt::format("{} {}", name, format_version(entry.version)));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string format_integer(cl_ulong value, const Property& property) {
  switch (property.form) {
  case Form::boolean:
    return value != 0 ? "yes" : "no";
  case Form::hexadecimal:
    return fmt::format("{:#06x}", value);
  case Form::bytes:
    return format_bytes(value);
  case Form::bits:
    return fmt::format("{} bits", value);
  case Form::megahertz:
    return fmt::format("{} MHz", value);
  case Form::nanoseconds:
    return fmt::format("{} ns", value);
  case Form::flags:
    return format_flags(value, property.names);
  case Form::choice:
    return format_choice(value, property.names);
  case Form::version:
    return format_version(value);
  default:
    return std::to_string(value);
  }
}

std::optional<std::string> format_property(const std::string& bytes, const Property& property) {
  switch (property.form) {
  case Form::text:
    return text_of(bytes);
  case Form::words:
    return fmt::format("{}", fmt::join(base::words_between_spaces(text_of(bytes)), " "));
  case Form::sizes:
    return format_sizes(bytes);
  case Form::name_versions:
    return format_name_versions(bytes);
  default:
    const auto value = integer_of(bytes);
    return value ? std::optional(format_integer(*value, property)) : std::nullopt;
  }
}

} // namespace

std::vector<std::pair<std::string, std::string>> query_device_properties(const Driver& driver,
                                                                         cl_device_id device) {
  std::vector<std::pair<std::string, std::string>> properties;
  for (const Property& property : k_properties) {
    auto value = format_property(ask(driver, device, property.name), property);
    if (value && !value->empty()) {
      properties.emplace_back(property.label, std::move(*value));
    }
  }
  return properties;
}

} // namespace oclcc::worker
