// Compares built-in functions on a device with the results that
// tests/cli/offline/built_in_table.py computes, and reads of images.
//
//   nvidia_built_ins PLATFORM BUNDLE FOLDER
//
// PLATFORM is a part of the name of the platform. FOLDER contains table.txt and table.bin. The
// bundle contains the programs table1, math1, … of that folder, and nvidia_images. Prints the
// first three mismatches of each function. Exit status 0; 1 if there is a mismatch, or an error.
//
// table.txt has lines "case PROGRAM KERNEL COUNT RESULT COMPARED", each followed by a line "launch"
// with three local and three global sizes, if these matter, and by lines "input TYPE OFFSET" and
// "row ULPS EXPECTED UNDEFINED LABEL", with offsets in table.bin: COUNT arguments; COUNT results;
// and a byte each, which is 1 if any result is right. RESULT is the type that the kernel writes,
// and COMPARED that of the bits.

#include "clbin/clbin.hpp"
#include "devices.hpp"
#include "opencl_functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using runtime_demo::OpenclFunctions;
using runtime_demo::OpenclLibrary;

constexpr std::size_t k_shown = 3; // mismatches of each function

void require(cl_int code, const char* function) {
  if (code != CL_SUCCESS) {
    throw std::runtime_error(runtime_demo::describe_failure(function, code));
  }
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::runtime_error(fmt::format("cannot open '{}'", path));
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

void* resolve(const char* name, void* library) {
  return static_cast<const OpenclLibrary*>(library)->resolve(name);
}

struct Row {
  std::uint64_t ulps = 0;
  std::size_t expected = 0;
  std::size_t undefined = 0;
  std::string label;
};

struct Input {
  std::string type;
  std::size_t offset = 0;
};

struct Case {
  std::string program;
  std::string kernel;
  std::size_t count = 0;
  std::string result;
  std::string compared;
  std::vector<Input> inputs;
  std::vector<Row> rows;
  std::vector<std::size_t> launch; // local and global sizes, or empty
};

std::vector<Case> read_cases(const std::string& text) {
  std::vector<Case> cases;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "case") {
      Case& one = cases.emplace_back();
      words >> one.program >> one.kernel >> one.count >> one.result >> one.compared;
    } else if (kind == "launch") {
      cases.back().launch.assign(std::istream_iterator<std::size_t>(words), {});
    } else if (kind == "input") {
      Input& one = cases.back().inputs.emplace_back();
      words >> one.type >> one.offset;
    } else {
      Row& one = cases.back().rows.emplace_back();
      words >> one.ulps >> one.expected >> one.undefined >> std::ws;
      std::getline(words, one.label);
    }
  }
  return cases;
}

std::size_t size_of(std::string_view type) {
  type.remove_prefix(type.starts_with('u') ? 1 : 0);
  if (type == "char") {
    return 1;
  }
  if (type == "short" || type == "half") {
    return 2;
  }
  return type == "int" || type == "float" ? 4 : 8;
}

std::uint64_t bits_at(std::string_view bytes, std::size_t offset, std::size_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + offset, size); // little-endian, as the devices
  return bits;
}

// Floating-point types: the bits of infinity, and of the sign.
struct FloatBits {
  std::uint64_t infinity = 0; // 0 for integers
  std::uint64_t sign = 0;
};

FloatBits float_bits(std::string_view type) {
  if (type == "half") {
    return {0x7c00, 0x8000};
  }
  if (type == "float") {
    return {0x7f800000, 0x80000000};
  }
  if (type == "double") {
    return {0x7ff0000000000000, 0x8000000000000000};
  }
  return {};
}

// Ascending with the value.
std::int64_t ordered(std::uint64_t bits, const FloatBits& type) {
  const auto magnitude = static_cast<std::int64_t>(bits & ~type.sign);
  return (bits & type.sign) != 0 ? -magnitude : magnitude;
}

bool is_right(std::uint64_t got, std::uint64_t expected, const FloatBits& type,
              std::uint64_t ulps) {
  if (got == expected) {
    return true;
  }
  const auto is_nan = [&](std::uint64_t bits) { return (bits & ~type.sign) > type.infinity; };
  if (type.infinity == 0) {
    return false;
  }
  if (is_nan(expected) || is_nan(got)) {
    return is_nan(expected) && is_nan(got);
  }
  const std::int64_t distance = ordered(got, type) - ordered(expected, type);
  return ulps != 0 && static_cast<std::uint64_t>(std::abs(distance)) <= ulps;
}

// fmt of the portable build (cmake/fmt_code.cpp) writes no floating-point numbers.
std::string shown(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

std::string shown(std::uint64_t bits, std::string_view type) {
  double value = 0;
  if (type == "float") {
    float narrow = 0;
    std::memcpy(&narrow, &bits, sizeof narrow);
    value = static_cast<double>(narrow);
  } else if (type == "double") {
    std::memcpy(&value, &bits, sizeof value);
  } else {
    return fmt::format("{:#x}", bits);
  }
  return fmt::format("{} ({:#x})", shown(value), bits);
}

std::string shown(const std::array<float, 4>& texel) {
  std::string text;
  for (const float value : texel) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", shown(static_cast<double>(value)));
  }
  return text;
}

class Device {
public:
  Device(const OpenclLibrary& library, const std::string& platform, const std::string& bundle)
      : m_library(&library), m_cl(&library.functions()), m_bundle(clbin::Bundle::open(bundle)) {
    const auto found = runtime_demo::find_devices(*m_cl).and_then(
        [&](const auto& all) { return runtime_demo::choose_devices(all, {platform}); });
    if (!found) {
      throw std::runtime_error(found.error().message);
    }
    m_device = found->front().id;
    cl_int code = CL_SUCCESS;
    m_context = m_cl->create_context(nullptr, 1, &m_device, nullptr, nullptr, &code);
    require(code, "clCreateContext");
    m_queue = m_cl->create_command_queue(m_context, m_device, 0, &code);
    require(code, "clCreateCommandQueue");
    char name[256] = {};
    m_cl->get_device_info(m_device, CL_DEVICE_NAME, sizeof name - 1, name, nullptr);
    fmt::print("{}\n", name);
  }

  // The bundle's entry, never its source, which the driver's compiler would build.
  cl_kernel kernel(const std::string& program, const std::string& name) {
    if (!m_programs.contains(program)) {
      clbin::LoadOptions options;
      options.fallback(clbin::Fallback::never)
          .do_not_store()
          .resolver(resolve, const_cast<OpenclLibrary*>(m_library));
      m_programs[program] = m_bundle.load(m_context, m_device, program, options);
    }
    cl_int code = CL_SUCCESS;
    cl_kernel kernel = m_cl->create_kernel(m_programs[program], name.c_str(), &code);
    require(code, "clCreateKernel");
    return kernel;
  }

  cl_mem buffer(std::size_t size, const void* bytes) {
    cl_int code = CL_SUCCESS;
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (bytes == nullptr ? 0 : CL_MEM_COPY_HOST_PTR);
    cl_mem memory = m_cl->create_buffer(m_context, flags, size, const_cast<void*>(bytes), &code);
    require(code, "clCreateBuffer");
    return memory;
  }

  template <typename T>
  void set(cl_kernel kernel, cl_uint index, const T& value) {
    require(m_cl->set_kernel_arg(kernel, index, sizeof value, &value), "clSetKernelArg");
  }

  void launch(cl_kernel kernel, std::size_t size) { launch(kernel, 1, nullptr, &size); }
  void launch(cl_kernel kernel, cl_uint dimensions, const std::size_t* local,
              const std::size_t* global) {
    require(m_cl->enqueue_nd_range_kernel(m_queue, kernel, dimensions, nullptr, global, local, 0,
                                          nullptr, nullptr),
            "clEnqueueNDRangeKernel");
    require(m_cl->finish(m_queue), "clFinish");
    m_cl->release_kernel(kernel);
  }

  void read(cl_mem memory, std::size_t size, void* bytes) {
    require(
        m_cl->enqueue_read_buffer(m_queue, memory, CL_TRUE, 0, size, bytes, 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  }
  void release(cl_mem memory) { m_cl->release_mem_object(memory); }

  template <typename Function>
  Function* function(const char* name) {
    return reinterpret_cast<Function*>(m_library->resolve(name));
  }
  cl_context context() { return m_context; }

private:
  const OpenclLibrary* m_library;
  const OpenclFunctions* m_cl;
  clbin::Bundle m_bundle;
  cl_device_id m_device = nullptr;
  cl_context m_context = nullptr;
  cl_command_queue m_queue = nullptr;
  std::map<std::string, cl_program> m_programs;
};

// Returns whether all results of a function are right.
bool compare(const Case& one, const Row& row, std::string_view got, std::string_view table) {
  const std::size_t size = size_of(one.result);
  const FloatBits type = float_bits(one.compared);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < one.count; ++i) {
    const std::uint64_t value = bits_at(got, i * size, size);
    const std::uint64_t expected = bits_at(table, row.expected + i * size, size);
    if (table[row.undefined + i] != 0 || is_right(value, expected, type, row.ulps)) {
      continue;
    }
    if (wrong++ < k_shown) {
      fmt::print("{}:", row.label);
      for (const Input& input : one.inputs) {
        const std::size_t width = size_of(input.type);
        fmt::print(" {}", shown(bits_at(table, input.offset + i * width, width), input.type));
      }
      fmt::print(": got {}, expected {}\n", shown(value, one.compared),
                 shown(expected, one.compared));
    }
  }
  if (wrong != 0) {
    fmt::print("{}: {} of {} wrong\n", row.label, wrong, one.count);
  }
  return wrong == 0;
}

// Returns the number of functions with a wrong result.
std::size_t run_case(Device& device, const Case& one, std::string_view table) {
  constexpr std::size_t k_work_items = 1024;
  cl_kernel kernel = device.kernel(one.program, one.kernel);
  std::vector<cl_mem> memory;
  for (const Input& input : one.inputs) {
    memory.push_back(device.buffer(one.count * size_of(input.type), table.data() + input.offset));
  }
  const std::size_t row_bytes = one.count * size_of(one.result);
  memory.push_back(device.buffer(row_bytes * one.rows.size(), nullptr));
  for (cl_uint i = 0; i < memory.size(); ++i) {
    device.set(kernel, i, memory[i]);
  }
  device.set(kernel, static_cast<cl_uint>(memory.size()), static_cast<cl_uint>(one.count));
  if (one.launch.empty()) {
    device.launch(kernel, k_work_items);
  } else {
    device.launch(kernel, 3, one.launch.data(), one.launch.data() + 3);
  }
  std::string results(row_bytes * one.rows.size(), '\0');
  device.read(memory.back(), results.size(), results.data());
  std::ranges::for_each(memory, [&](cl_mem one_memory) { device.release(one_memory); });
  std::size_t failures = 0;
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    const std::string_view got = std::string_view(results).substr(i * row_bytes, row_bytes);
    failures += compare(one, one.rows[i], got, table) ? 0 : 1;
  }
  return failures;
}

// Reads of images.

constexpr int k_width = 11;
constexpr int k_height = 7;
constexpr int k_layers = 5;

struct ImageCase {
  const char* kernel;
  cl_mem_object_type type;
  bool has_height;
  bool has_layers;
};
constexpr ImageCase k_image_cases[] = {
    {"image1d", CL_MEM_OBJECT_IMAGE1D, false, false},
    {"image1d_array", CL_MEM_OBJECT_IMAGE1D_ARRAY, false, true},
    {"image1d_array_float", CL_MEM_OBJECT_IMAGE1D_ARRAY, false, true},
    {"image2d", CL_MEM_OBJECT_IMAGE2D, true, false},
    {"image2d_array", CL_MEM_OBJECT_IMAGE2D_ARRAY, true, true},
    {"image2d_array_float", CL_MEM_OBJECT_IMAGE2D_ARRAY, true, true},
    {"image2d_depth", CL_MEM_OBJECT_IMAGE2D, true, false},
};

bool is_depth(const ImageCase& one) {
  return std::string_view(one.kernel) == "image2d_depth";
}

cl_mem make_image(Device& device, const ImageCase& one) {
  const int height = one.has_height ? k_height : 1;
  const int layers = one.has_layers ? k_layers : 1;
  std::vector<float> texels;
  for (int layer = 0; layer < layers; ++layer) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < k_width; ++x) {
        if (is_depth(one)) {
          texels.push_back(static_cast<float>(x + 16 * y));
        } else {
          texels.insert(texels.end(), {static_cast<float>(x), static_cast<float>(y),
                                       static_cast<float>(layer), 1.0F});
        }
      }
    }
  }
  const cl_image_format format{static_cast<cl_channel_order>(is_depth(one) ? CL_DEPTH : CL_RGBA),
                               CL_FLOAT};
  cl_image_desc description{};
  description.image_type = one.type;
  description.image_width = k_width;
  description.image_height = one.has_height ? k_height : 0;
  description.image_array_size = one.has_layers ? k_layers : 0;
  cl_int code = CL_SUCCESS;
  cl_mem image = device.function<decltype(clCreateImage)>("clCreateImage")(
      device.context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &description,
      texels.data(), &code);
  require(code, "clCreateImage");
  return image;
}

// The texel that OpenCL C, section "Addressing and Filter Modes", selects.
std::array<float, 4> expected_texel(const ImageCase& one, const std::array<cl_int, 4>& at,
                                    bool clamps_to_edge) {
  const int x = std::clamp(at[0], 0, k_width - 1);
  const int y = one.has_height ? std::clamp(at[1], 0, k_height - 1) : 0;
  const int layer = one.has_layers ? std::clamp(at[2], 0, k_layers - 1) : 0;
  const bool is_inside = x == at[0] && (!one.has_height || y == at[1]);
  if (is_depth(one)) {
    const float value =
        clamps_to_edge || is_inside ? static_cast<float>(x + 16 * y) : 0.0F; // the border
    return {value, value, static_cast<float>(k_width + 16 * k_height), 1.0F};
  }
  if (!clamps_to_edge && !is_inside) {
    return {};
  }
  return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(layer), 1.0F};
}

std::size_t run_image_case(Device& device, const ImageCase& one, bool clamps_to_edge) {
  std::vector<std::array<cl_int, 4>> places;
  for (int layer = one.has_layers ? -3 : 0; layer < (one.has_layers ? k_layers + 3 : 1); ++layer) {
    for (int y = one.has_height ? -3 : 0; y < (one.has_height ? k_height + 3 : 1); ++y) {
      for (int x = -3; x < k_width + 3; ++x) {
        places.push_back({x, y, layer, 0});
      }
    }
  }
  cl_int code = CL_SUCCESS;
  cl_sampler sampler = device.function<decltype(clCreateSampler)>("clCreateSampler")(
      device.context(), CL_FALSE, clamps_to_edge ? CL_ADDRESS_CLAMP_TO_EDGE : CL_ADDRESS_CLAMP,
      CL_FILTER_NEAREST, &code);
  require(code, "clCreateSampler");
  cl_mem image = make_image(device, one);
  cl_mem input = device.buffer(places.size() * sizeof places[0], places.data());
  std::vector<std::array<float, 4>> results(places.size());
  cl_mem output = device.buffer(results.size() * sizeof results[0], nullptr);
  cl_kernel kernel = device.kernel("nvidia_images", one.kernel);
  device.set(kernel, 0, image);
  device.set(kernel, 1, sampler);
  device.set(kernel, 2, input);
  device.set(kernel, 3, output);
  device.launch(kernel, places.size());
  device.read(output, results.size() * sizeof results[0], results.data());
  std::ranges::for_each(std::array{image, input, output},
                        [&](cl_mem memory) { device.release(memory); });
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto expected = expected_texel(one, places[i], clamps_to_edge);
    if (results[i] != expected && wrong++ < k_shown) {
      fmt::print("{}, {}: ({}, {}, {}): got ({}), expected ({})\n", one.kernel,
                 clamps_to_edge ? "clamp to edge" : "clamp", places[i][0], places[i][1],
                 places[i][2], shown(results[i]), shown(expected));
    }
  }
  if (wrong != 0) {
    fmt::print("{}: {} of {} reads wrong\n", one.kernel, wrong, places.size());
  }
  return wrong != 0 ? 1 : 0;
}

// A case that cannot run is a failure, and the others run.
template <typename Run>
std::size_t guarded(const std::string& name, Run run) {
  try {
    return run();
  } catch (const std::exception& failure) {
    fmt::print("{}: {}\n", name, failure.what());
    return 1;
  }
}

bool run(const std::string& platform, const std::string& bundle, const std::string& folder) {
  const auto library = OpenclLibrary::open();
  if (!library) {
    throw std::runtime_error(library.error().message);
  }
  Device device(*library, platform, bundle);
  const std::string table = contents(folder + "/table.bin");
  std::size_t functions = 0;
  std::size_t failures = 0;
  for (const Case& one : read_cases(contents(folder + "/table.txt"))) {
    functions += one.rows.size();
    failures += guarded(fmt::format("{} {}", one.program, one.kernel),
                        [&] { return run_case(device, one, table); });
  }
  for (const ImageCase& one : k_image_cases) {
    for (const bool clamps_to_edge : {true, false}) {
      ++functions;
      failures += guarded(one.kernel, [&] { return run_image_case(device, one, clamps_to_edge); });
    }
  }
  fmt::print("{} functions, {} wrong\n", functions, failures);
  return failures == 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: nvidia_built_ins PLATFORM BUNDLE FOLDER\n", stderr);
    return 2;
  }
  try {
    return run(argv[1], argv[2], argv[3]) ? 0 : 1;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "nvidia_built_ins: %s\n", failure.what());
    return 1;
  }
}
