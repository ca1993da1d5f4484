// Runs kernels of llama.cpp (ggml's OpenCL folder, which llama_kernels.sh compiles) on a device,
// and compares with results that the host computes in double precision.
//
//   llama_kernels PLATFORM FOLDER
//
// PLATFORM is a part of the name of the platform. FOLDER contains a bundle for each file of
// kernels. The sizes of groups are those of ggml-opencl.cpp, with sub-groups of 32. Prints a line
// for each launch: kernel, sizes, and the largest error, as a part of the largest result, with its
// limit. Exit status 0; 1 if a result is wrong, or an error.

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
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using runtime_demo::OpenclFunctions;
using runtime_demo::OpenclLibrary;

constexpr cl_int k_sub_group = 32;

// Limits of the error. The kernels are compiled with -cl-fast-relaxed-math.
constexpr double k_sum = 1e-5;
constexpr double k_function = 1e-4; // exp, tanh, …
constexpr double k_angle = 5e-3;    // of angles up to 100, from a relaxed pow

using Sizes = std::array<cl_int, 4>; // the first is the one of neighbours

std::size_t count(const Sizes& n) {
  return static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1]) *
         static_cast<std::size_t>(n[2]) * static_cast<std::size_t>(n[3]);
}

// Calls function(i1, i2, i3) for each row.
void for_each_row(const Sizes& n, const std::function<void(cl_int, cl_int, cl_int)>& function) {
  for (cl_int i3 = 0; i3 < n[3]; ++i3) {
    for (cl_int i2 = 0; i2 < n[2]; ++i2) {
      for (cl_int i1 = 0; i1 < n[1]; ++i1) {
        function(i1, i2, i3);
      }
    }
  }
}

// Where a row starts; those of a smaller tensor repeat.
std::size_t row_at(const Sizes& n, cl_int i1, cl_int i2, cl_int i3) {
  const cl_int row = ((i3 % n[3]) * n[2] + i2 % n[2]) * n[1] + i1 % n[1];
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(n[0]);
}

void require(cl_int code, const char* function) {
  if (code != CL_SUCCESS) {
    throw std::runtime_error(runtime_demo::describe_failure(function, code));
  }
}

void* resolve(const char* name, void* library) {
  return static_cast<const OpenclLibrary*>(library)->resolve(name);
}

// Buffers and kernels live as long as the process.
class Device {
public:
  Device(const OpenclLibrary& library, const std::string& platform, std::string folder)
      : m_library(&library), m_cl(&library.functions()), m_folder(std::move(folder)) {
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

  // The bundle's entry, never a source, which the driver's compiler would build.
  cl_kernel kernel(const std::string& program, const std::string& name) {
    clbin::LoadOptions options;
    options.fallback(clbin::Fallback::never)
        .do_not_store()
        .resolver(resolve, const_cast<OpenclLibrary*>(m_library));
    const auto bundle = clbin::Bundle::open(m_folder + "/" + program + ".clbin");
    cl_int code = CL_SUCCESS;
    cl_kernel kernel = m_cl->create_kernel(bundle.load(m_context, m_device, program, options),
                                           name.c_str(), &code);
    require(code, "clCreateKernel");
    return kernel;
  }

  cl_mem buffer(const std::vector<double>& values) { // of float
    return buffer(std::vector<float>(values.begin(), values.end()));
  }
  template <typename T>
  cl_mem buffer(std::vector<T> values) {
    cl_int code = CL_SUCCESS;
    cl_mem memory = m_cl->create_buffer(m_context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                        values.size() * sizeof(T), values.data(), &code);
    require(code, "clCreateBuffer");
    return memory;
  }
  // Not a number where no kernel writes.
  cl_mem result(std::size_t size) { return buffer(std::vector<float>(size, NAN)); }

  std::vector<float> read(cl_mem memory, std::size_t size) {
    std::vector<float> values(size);
    require(m_cl->enqueue_read_buffer(m_queue, memory, CL_TRUE, 0, size * sizeof(float),
                                      values.data(), 0, nullptr, nullptr),
            "clEnqueueReadBuffer");
    return values;
  }

  void launch(cl_kernel kernel, const std::array<cl_int, 3>& groups, cl_int local_size) {
    const std::size_t local[3] = {static_cast<std::size_t>(local_size), 1, 1};
    std::size_t global[3];
    std::ranges::transform(groups, local, global,
                           [](cl_int a, std::size_t b) { return static_cast<std::size_t>(a) * b; });
    require(m_cl->enqueue_nd_range_kernel(m_queue, kernel, 3, nullptr, global, local, 0, nullptr,
                                          nullptr),
            "clEnqueueNDRangeKernel");
    require(m_cl->finish(m_queue), "clFinish");
  }

  void set(cl_kernel kernel, cl_uint index, std::size_t size, const void* value) {
    require(m_cl->set_kernel_arg(kernel, index, size, value), "clSetKernelArg");
  }

private:
  const OpenclLibrary* m_library;
  const OpenclFunctions* m_cl;
  std::string m_folder;
  cl_device_id m_device = nullptr;
  cl_context m_context = nullptr;
  cl_command_queue m_queue = nullptr;
};

// The arguments of a kernel, in their order.
class Call {
public:
  Call(Device& device, const std::string& program, const std::string& kernel)
      : m_device(&device), m_kernel(device.kernel(program, kernel)) {}

  // cl_mem, cl_int, cl_float, cl_ulong
  template <typename... Values>
  Call& with(const Values&... values) {
    (set(values), ...);
    return *this;
  }
  template <typename... Memory>
  Call& tensors(const Memory&... memory) { // each has an offset
    return (with(memory, cl_ulong{0}), ...);
  }
  Call& sizes(const Sizes& n, std::size_t end = 4) {
    std::for_each(n.begin(), n.begin() + end, [&](cl_int size) { with(size); });
    return *this;
  }
  // Bytes from one element to the next, of dimensions [begin, end).
  Call& strides(const Sizes& n, cl_ulong bytes, std::size_t begin = 0, std::size_t end = 4) {
    for (std::size_t i = 0; i < end; bytes *= static_cast<cl_ulong>(n[i++])) {
      if (i >= begin) {
        with(bytes);
      }
    }
    return *this;
  }
  Call& local_floats(cl_int floats) {
    m_device->set(m_kernel, m_index++, static_cast<std::size_t>(floats) * sizeof(float), nullptr);
    return *this;
  }
  void launch(const std::array<cl_int, 3>& groups, cl_int local_size) {
    m_device->launch(m_kernel, groups, local_size);
  }
  void launch_rows(const Sizes& n, cl_int local_size) { launch({n[1], n[2], n[3]}, local_size); }

private:
  template <typename T>
  void set(const T& value) {
    m_device->set(m_kernel, m_index++, sizeof value, &value);
  }

  Device* m_device;
  cl_kernel m_kernel;
  cl_uint m_index = 0;
};

// The cases, and how many of them are wrong.
class Cases {
public:
  explicit Cases(Device& device) : m_device(&device) {}
  int wrong() const { return m_wrong; }
  int all() const { return m_all; }

  // A case that cannot run is wrong, and the others run.
  void run(const std::string& name, const std::function<void()>& one) {
    try {
      one();
    } catch (const std::exception& failure) {
      fmt::print("{}: {}\n", name, failure.what());
      ++m_all;
      ++m_wrong;
    }
  }

  void binary(const std::string& name, const Sizes& a, const Sizes& b,
              const std::function<double(double, double)>& function) {
    const auto left = random(count(a), -2, 2);
    const auto right = random(count(b), 0.5F, 2);
    cl_mem memory = m_device->result(count(a));
    const bool has_sizes = name == "add" || name == "mul";
    Call call(*m_device, name, "kernel_" + name);
    call.tensors(m_device->buffer(left), m_device->buffer(right), memory);
    call.sizes(a, has_sizes ? 4 : 0).strides(a, 4).sizes(b).strides(b, 4);
    call.sizes(a, has_sizes ? 4 : 1).strides(a, 4).launch_rows(a, std::min(64, a[0]));
    std::vector<double> expected;
    for_each_row(a, [&](cl_int i1, cl_int i2, cl_int i3) {
      for (cl_int i = 0; i < a[0]; ++i) {
        expected.push_back(function(left[row_at(a, i1, i2, i3) + at(i)],
                                    right[row_at(b, i1, i2, i3) + at(i % b[0])]));
      }
    });
    compare("kernel_" + name, a, memory, expected, k_sum);
  }

  // Elements are float, or float4 if the kernel's name ends in 4.
  void unary(const std::string& program, const std::string& kernel, cl_int groups,
             const std::function<double(double)>& function, const std::vector<float>& more = {}) {
    constexpr cl_int k_local = 51; // ggml: 64, or what the driver selects
    const Sizes n = {groups * k_local * (kernel.ends_with("_4") ? 4 : 1), 1, 1, 1};
    const auto values = random(count(n), -6, 6);
    cl_mem memory = m_device->result(count(n));
    Call call(*m_device, program, kernel);
    call.tensors(m_device->buffer(values), memory);
    std::ranges::for_each(more, [&](float value) { call.with(value); });
    call.launch({groups, 1, 1}, k_local);
    std::vector<double> expected;
    std::ranges::transform(values, std::back_inserter(expected), function);
    compare(kernel, n, memory, expected, k_function);
  }

  // The heads of the mask repeat. bias: of ALiBi; sinks: one more element of each head's sums.
  void soft_max(const std::string& program, const std::string& kernel, const Sizes& n,
                bool is_masked, float bias, bool has_sinks) {
    const bool is_half = program.ends_with("f16");
    const Sizes mask_sizes = is_masked ? Sizes{n[0], n[1], 1, n[3]} : Sizes{0, 0, 0, 0};
    const auto values = random(count(n), -4, 4);
    const auto half_mask = halves(count(mask_sizes));
    const auto mask = is_half ? half_values(half_mask) : random(count(mask_sizes), -1, 1);
    const auto sinks = random(static_cast<std::size_t>(n[2]), -1, 1);
    const cl_int heads = 1 << static_cast<int>(std::log2(n[2]));
    const float m0 = std::pow(2.0F, -bias / static_cast<float>(heads));
    const float m1 = std::pow(2.0F, -bias / 2 / static_cast<float>(heads));
    constexpr float k_scale = 0.75F;
    cl_mem input = m_device->buffer(values);
    cl_mem mask_memory = !is_masked ? input
                         : is_half  ? m_device->buffer(half_mask)
                                    : m_device->buffer(mask);
    cl_mem memory = m_device->result(count(n));
    Call(*m_device, program, kernel)
        .tensors(input, mask_memory, has_sinks ? m_device->buffer(sinks) : input, memory)
        .with(n[0])
        .strides(n, 4, 1)
        .with(mask_sizes[2], mask_sizes[3])
        .strides(mask_sizes, is_half ? 2 : 4, 1)
        .strides(n, 4, 1)
        .with(k_scale, bias, m0, m1, heads)
        .launch_rows(n, k_sub_group);
    std::vector<double> expected(count(n));
    for_each_row(n, [&](cl_int i1, cl_int i2, cl_int i3) {
      const double slope = bias == 0    ? 1
                           : i2 < heads ? std::pow(static_cast<double>(m0), i2 + 1)
                                        : std::pow(static_cast<double>(m1), 2 * (i2 - heads) + 1);
      const std::size_t row = row_at(n, i1, i2, i3);
      double sum = has_sinks ? std::exp(sinks[at(i2)]) : 0;
      for (cl_int i = 0; i < n[0]; ++i) {
        const double more = is_masked ? slope * mask[row_at(mask_sizes, i1, i2, i3) + at(i)] : 0;
        sum += expected[row + at(i)] =
            std::exp(values[row + at(i)] * static_cast<double>(k_scale) + more);
      }
      for (cl_int i = 0; i < n[0]; ++i) {
        expected[row + at(i)] /= sum;
      }
    });
    compare(kernel, n, memory, expected, k_function);
  }

  // kernel_norm subtracts the mean; kernel_rms_norm does not; kernel_rms_norm_mul multiplies, too.
  void norm(const std::string& program, const std::string& kernel, const Sizes& n,
            cl_int local_size) {
    const bool is_centred = kernel == "kernel_norm";
    const bool multiplies = kernel == "kernel_rms_norm_mul";
    const Sizes factor_sizes = {n[0], 1, 1, 1};
    const auto values = random(count(n), -1, 3);
    const auto factors = random(count(factor_sizes), -1, 1);
    cl_mem input = m_device->buffer(values);
    cl_mem memory = m_device->result(count(n));
    constexpr float k_epsilon = 1e-5F;
    Call call(*m_device, program, kernel);
    call.tensors(input);
    if (multiplies) {
      call.tensors(m_device->buffer(factors));
    }
    call.tensors(memory).sizes(n).strides(n, 4, is_centred ? 0 : 1);
    if (multiplies) {
      call.sizes(factor_sizes).strides(factor_sizes, 4, 1).strides(n, 4, 1);
    }
    call.with(k_epsilon)
        .local_floats(is_centred ? local_size : k_sub_group) // no less than ggml has
        .launch_rows(n, local_size);
    std::vector<double> expected;
    for_each_row(n, [&](cl_int i1, cl_int i2, cl_int i3) {
      const double* row = values.data() + row_at(n, i1, i2, i3);
      double mean = 0;
      double square = 0;
      for (cl_int i = 0; i < n[0] && is_centred; ++i) {
        mean += row[i] / n[0];
      }
      for (cl_int i = 0; i < n[0]; ++i) {
        square += (row[i] - mean) * (row[i] - mean) / n[0];
      }
      for (cl_int i = 0; i < n[0]; ++i) {
        expected.push_back((row[i] - mean) / std::sqrt(square + static_cast<double>(k_epsilon)) *
                           (multiplies ? factors[at(i)] : 1));
      }
    });
    compare(kernel, n, memory, expected, k_sum);
  }

  // Rotates pairs of the first `rotated` elements. n[2] positions. extrapolation: of YaRN, 0 or 1.
  void rope(const std::string& kernel, const Sizes& n, cl_int rotated, float extrapolation) {
    const bool is_neox = kernel == "kernel_rope_neox_f32";
    const auto values = random(count(n), -1, 1);
    const auto factors = random(at(rotated / 2), 0.5F, 2);
    std::vector<cl_int> positions(at(n[2]));
    std::ranges::generate(positions, [next = -2]() mutable { return next += 3; });
    constexpr cl_int k_context = 4096;
    constexpr float k_base = 10000.0F;
    const float scale = extrapolation != 0 ? 0.25F : 1.0F;
    cl_mem memory = m_device->result(count(n));
    Call(*m_device, "rope", kernel)
        .tensors(m_device->buffer(values), m_device->buffer(positions), m_device->buffer(factors),
                 memory)
        .sizes(n)
        .strides(n, 4)
        .sizes(n)
        .strides(n, 4)
        .with(cl_int{0}, rotated, k_context, k_base, scale, extrapolation, 1.0F, 32.0F, 1.0F,
              cl_int{0})
        .launch_rows(n, std::min(64, n[0]));
    const auto correction = [&](double rotations) {
      return rotated * std::log(k_context / (rotations * 2 * M_PI)) /
             (2 * std::log(static_cast<double>(k_base)));
    };
    const double low = std::max(0.0, std::floor(correction(32)));
    const double high = std::min(rotated - 1.0, std::ceil(correction(1)));
    std::vector<double> expected(values.begin(), values.end());
    for_each_row(n, [&](cl_int i1, cl_int i2, cl_int i3) {
      const std::size_t row = row_at(n, i1, i2, i3);
      for (cl_int pair = 0; pair < rotated / 2; ++pair) {
        const double full = positions[at(i2)] *
                            std::pow(static_cast<double>(k_base), -2.0 * pair / rotated) /
                            factors[at(pair)];
        const double ramp = (1 - std::clamp((pair - low) / std::max(0.001, high - low), 0.0, 1.0)) *
                            static_cast<double>(extrapolation);
        const double angle = full * static_cast<double>(scale) * (1 - ramp) + full * ramp;
        const double size =
            extrapolation != 0 ? 1 + 0.1 * std::log(1 / static_cast<double>(scale)) : 1;
        const std::size_t first = row + at(is_neox ? pair : 2 * pair);
        const std::size_t second = first + at(is_neox ? rotated / 2 : 1);
        const double x = values[first];
        const double y = values[second];
        expected[first] = (x * std::cos(angle) - y * std::sin(angle)) * size;
        expected[second] = (x * std::sin(angle) + y * std::cos(angle)) * size;
      }
    });
    compare(kernel, n, memory, expected, k_angle);
  }

  void get_rows(const std::string& type, const Sizes& n, cl_int rows) {
    const Matrix source = matrix(type, n);
    const Sizes index_sizes = {rows, n[2], n[3], 1};
    const Sizes result_sizes = {n[0], rows, n[2], n[3]};
    std::vector<cl_int> indices(count(index_sizes));
    std::ranges::generate(indices, [&] { return static_cast<cl_int>(m_random() % at(n[1])); });
    cl_mem memory = m_device->result(count(result_sizes));
    cl_int local_size = 1;
    while (local_size < n[0] && local_size < 256) {
      local_size *= 2;
    }
    const cl_int chunks = type == "f32" ? (n[0] + local_size * 4 - 1) / (local_size * 4) : 1;
    Call(*m_device, "get_rows", "kernel_get_rows_" + type)
        .tensors(m_device->buffer(source.bytes), m_device->buffer(indices), memory)
        .with(n[0])
        .strides(source.blocks, source.block_bytes, 1)
        .with(rows)
        .strides(index_sizes, 4, 0, 3)
        .strides(result_sizes, 4, 1)
        .launch({rows * chunks, n[2], n[3]}, local_size);
    std::vector<double> expected;
    for_each_row(result_sizes, [&](cl_int i1, cl_int i2, cl_int i3) {
      const cl_int index = indices[at((i3 * n[2] + i2) * rows + i1)];
      const auto row = source.values.begin() + static_cast<long>(row_at(n, index, i2, i3));
      expected.insert(expected.end(), row, row + n[0]);
    });
    compare("kernel_get_rows_" + type, n, memory, expected, k_sum);
  }

  // n: of the matrices of weights; columns: of the other factor, whose matrices are `repeated` as
  // many.
  void mul_mat(const std::string& program, const std::string& kernel, const std::string& type,
               const Sizes& n, cl_int columns, cl_int repeated) {
    const Matrix weights = matrix(type, n);
    const Sizes m = {n[0], columns, n[2] * repeated, n[3]};
    const Sizes result_sizes = {n[1], m[1], m[2], m[3]};
    const auto values = random(count(m), -1, 1);
    cl_mem memory = m_device->result(count(result_sizes));
    Call call(*m_device, program, kernel);
    call.tensors(m_device->buffer(weights.bytes), m_device->buffer(values), memory);
    std::array<cl_int, 3> groups = {n[1], columns, m[2] * m[3]};
    cl_int local_size = k_sub_group;
    if (type == "q4_0") {
      call.sizes(n, 3).with(m[0], m[2]);
      groups[0] = (n[1] + 3) / 4;
    } else if (type == "q8_0") {
      call.sizes(n, 2).strides(weights.blocks, weights.block_bytes, 1).with(m[2]).strides(m, 4, 1);
      groups[0] = (n[1] + 7) / 8;
      local_size *= 2;
    } else {
      call.sizes(n, 3).strides(n, weights.block_bytes).sizes(m, 3).strides(m, 4);
      groups[1] = kernel.ends_with("_l4")    ? 1
                  : kernel.ends_with("1row") ? columns
                                             : (columns + 3) / 4;
    }
    call.with(n[1], columns, repeated, cl_int{1}).launch(groups, local_size);
    std::vector<double> expected;
    for_each_row(result_sizes, [&](cl_int i1, cl_int i2, cl_int i3) {
      const double* column = values.data() + row_at(m, i1, i2, i3);
      for (cl_int row = 0; row < n[1]; ++row) {
        const double* weight = weights.values.data() + row_at(n, row, i2 / repeated, i3);
        double sum = 0;
        for (cl_int i = 0; i < n[0]; ++i) {
          sum += weight[i] * column[i];
        }
        expected.push_back(sum);
      }
    });
    compare(kernel, n, memory, expected, k_sum);
  }

private:
  // The bytes have room behind them, because the last group reads rows that do not exist.
  struct Matrix {
    std::vector<unsigned char> bytes;
    std::vector<double> values;
    Sizes blocks; // sizes in blocks
    cl_ulong block_bytes = 0;
  };

  static std::size_t at(cl_int index) { return static_cast<std::size_t>(index); }

  // Those of float.
  std::vector<double> random(std::size_t size, float low, float high) {
    std::uniform_real_distribution<float> distribution(low, high);
    std::vector<double> values(size);
    std::ranges::generate(values, [&] { return static_cast<double>(distribution(m_random)); });
    return values;
  }

  // Of magnitudes from 1/16 to 2.
  std::vector<std::uint16_t> halves(std::size_t size) {
    std::vector<std::uint16_t> bits(size);
    std::ranges::generate(bits, [&] {
      const auto any = static_cast<std::uint32_t>(m_random());
      return static_cast<std::uint16_t>((any & 0x83ff) | (11 + (any >> 16) % 5) << 10);
    });
    return bits;
  }
  static double half_value(std::uint32_t bits) {
    const double magnitude =
        std::ldexp((bits & 0x3ff) | 0x400, static_cast<int>(bits >> 10 & 0x1f) - 25);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  }
  static std::vector<double> half_values(const std::vector<std::uint16_t>& halves) {
    std::vector<double> values;
    std::ranges::transform(halves, std::back_inserter(values), half_value);
    return values;
  }

  // Random bytes with a scale in front, and their values. q4_0: low bits first, each less 8.
  Matrix matrix(const std::string& type, const Sizes& n) {
    const cl_int elements = type.starts_with('q') ? 32 : 1;
    Matrix result;
    result.blocks = {n[0] / elements, n[1], n[2], n[3]};
    result.block_bytes = type == "f32" ? 4 : type == "f16" ? 2 : type == "q4_0" ? 18 : 34;
    const std::size_t size = count(result.blocks);
    result.bytes.resize((size + 8 * at(result.blocks[0])) * result.block_bytes);
    const auto plain = random(size, -1, 1);
    const auto half = halves(size);
    for (std::size_t i = 0; i < size; ++i) {
      unsigned char* block = result.bytes.data() + i * result.block_bytes;
      const double scale = half_value(half[i]);
      if (type == "f32") {
        const auto value = static_cast<float>(plain[i]);
        std::memcpy(block, &value, sizeof value);
        result.values.push_back(plain[i]);
        continue;
      }
      std::memcpy(block, &half[i], sizeof half[i]);
      if (type == "f16") {
        result.values.push_back(scale);
        continue;
      }
      std::generate(block + 2, block + result.block_bytes,
                    [&] { return static_cast<unsigned char>(m_random()); });
      for (int k = 0; k < 32; ++k) {
        const int quantity = type == "q8_0" ? static_cast<signed char>(block[2 + k])
                                            : (block[2 + k % 16] >> (k / 16 * 4) & 15) - 8;
        result.values.push_back(scale * quantity);
      }
    }
    return result;
  }

  void compare(const std::string& kernel, const Sizes& n, cl_mem memory,
               const std::vector<double>& expected, double limit) {
    const auto got = m_device->read(memory, expected.size());
    double error = 0;
    double largest = 0;
    bool is_number = true;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      error = std::max(error, std::abs(static_cast<double>(got[i]) - expected[i]));
      largest = std::max(largest, std::abs(expected[i]));
      is_number = is_number && std::isfinite(got[i]);
    }
    const bool is_right = is_number && error <= limit * largest;
    // fmt of the portable build (cmake/fmt_code.cpp) writes no floating-point numbers.
    char text[64];
    std::snprintf(text, sizeof text, "%.1e (limit %.0e)", error / largest, limit);
    fmt::print("{:<28} {:<14} {} {}\n", kernel, fmt::format("{}x{}x{}x{}", n[0], n[1], n[2], n[3]),
               text,
               is_right    ? "right"
               : is_number ? "WRONG"
                           : "WRONG: not a number");
    ++m_all;
    m_wrong += is_right ? 0 : 1;
  }

  Device* m_device;
  std::mt19937 m_random; // always the same numbers
  int m_all = 0;
  int m_wrong = 0;
};

void run_arithmetic(Cases& cases) {
  const std::vector<std::array<Sizes, 2>> shapes = {{{{33, 5, 3, 2}, {33, 5, 3, 2}}},
                                                    {{{33, 5, 3, 2}, {11, 1, 3, 1}}},
                                                    {{{4097, 3, 1, 1}, {4097, 1, 1, 1}}}};
  const std::vector<std::pair<std::string, std::function<double(double, double)>>> functions = {
      {"add", std::plus<>()},
      {"sub", std::minus<>()},
      {"mul", std::multiplies<>()},
      {"div", std::divides<>()}};
  for (const auto& one : functions) {
    for (const auto& sizes : shapes) {
      cases.run(one.first, [&] { cases.binary(one.first, sizes[0], sizes[1], one.second); });
    }
  }
}

void run_functions(Cases& cases) {
  const auto silu = [](double x) { return x / (1 + std::exp(-x)); };
  const auto gelu = [](double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * x * (1 + 0.044715 * x * x)));
  };
  const auto gelu_erf = [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); };
  const auto gelu_quick = [](double x) { return x / (1 + std::exp(-1.702 * x)); };
  for (const std::string end : {"", "_4"}) {
    cases.run("scale", [&] {
      cases.unary("scale", "kernel_scale_f32" + end, 19, [](double x) { return x * 1.5 - 0.25; },
                  {1.5F, -0.25F});
    });
    cases.run("silu", [&] { cases.unary("silu", "kernel_silu" + end, 19, silu); });
    cases.run("gelu", [&] { cases.unary("gelu", "kernel_gelu" + end, 19, gelu); });
    cases.run("gelu_erf", [&] { cases.unary("gelu", "kernel_gelu_erf" + end, 19, gelu_erf); });
    cases.run("gelu_quick",
              [&] { cases.unary("gelu", "kernel_gelu_quick" + end, 19, gelu_quick); });
  }
}

void run_rows(Cases& cases) {
  for (const std::string type : {"f32", "f16"}) {
    const std::string end = type == "f16" ? "_f16" : "";
    for (const bool has_more : {false, true}) { // ALiBi and sinks
      cases.run("soft_max", [&] {
        cases.soft_max("softmax_" + type, "kernel_soft_max" + end, {101, 7, 6, 2}, true,
                       has_more ? 8.0F : 0.0F, has_more);
      });
      cases.run("soft_max_4", [&] {
        cases.soft_max("softmax_4_" + type, "kernel_soft_max_4" + end, {1028, 5, 6, 2}, true,
                       has_more ? 8.0F : 0.0F, has_more);
      });
    }
  }
  cases.run("soft_max", [&] {
    cases.soft_max("softmax_f32", "kernel_soft_max", {17, 3, 2, 1}, false, 0.0F, false);
  });
  for (const Sizes& n : {Sizes{33, 5, 3, 2}, Sizes{4097, 3, 1, 1}}) {
    cases.run("norm", [&] { cases.norm("norm", "kernel_norm", n, 64); });
  }
  for (const Sizes& n : {Sizes{36, 5, 3, 2}, Sizes{128, 7, 1, 1}, Sizes{4100, 3, 1, 1}}) {
    cases.run("rms_norm", [&] {
      cases.norm("rms_norm", "kernel_rms_norm", n, std::min(64, n[0]));
      cases.norm("rms_norm", "kernel_rms_norm_mul", n, 256);
    });
  }
  for (const std::string kernel : {"kernel_rope_norm_f32", "kernel_rope_neox_f32"}) {
    for (const float extrapolation : {0.0F, 1.0F}) {
      cases.run(kernel, [&] {
        cases.rope(kernel, {128, 3, 17, 2}, 128, extrapolation);
        cases.rope(kernel, {80, 5, 7, 1}, 66, extrapolation); // a part of a row
      });
    }
  }
}

void run_matrices(Cases& cases) {
  cases.run("get_rows", [&] {
    cases.get_rows("f32", {101, 13, 3, 2}, 7);
    cases.get_rows("f32", {4099, 13, 1, 1}, 5);
    cases.get_rows("f16", {101, 13, 3, 2}, 7);
    cases.get_rows("q4_0", {96, 13, 3, 2}, 7);
  });
  for (const Sizes& n : {Sizes{32, 1, 1, 1}, Sizes{96, 33, 3, 2}, Sizes{4096, 127, 1, 1}}) {
    cases.run("mul_mv_q4_0_f32", [&] {
      cases.mul_mat("mul_mv_q4_0_f32", "kernel_mul_mat_q4_0_f32", "q4_0", n, 3, 2);
    });
    cases.run("mul_mv_q8_0_f32",
              [&] { cases.mul_mat("mul_mv_q8_0_f32", "kernel_mul_mv_q8_0_f32", "q8_0", n, 3, 2); });
    cases.run("mul_mv_f16_f32_l4", [&] {
      cases.mul_mat("mul_mv_f16_f32_l4", "kernel_mul_mat_f16_f32_l4", "f16", n, 3, 2);
    });
  }
  // Rows of 128 elements and more are read as vectors of four.
  for (const Sizes& n : {Sizes{33, 5, 3, 2}, Sizes{128, 33, 3, 2}, Sizes{4100, 127, 1, 1}}) {
    cases.run("mul_mv_f16_f32",
              [&] { cases.mul_mat("mul_mv_f16_f32", "kernel_mul_mat_f16_f32", "f16", n, 5, 2); });
    cases.run("mul_mv_f16_f32_1row", [&] {
      cases.mul_mat("mul_mv_f16_f32_1row", "kernel_mul_mat_f16_f32_1row", "f16", n, 1, 2);
    });
    cases.run("mul_mv_f32_f32",
              [&] { cases.mul_mat("mul_mv_f32_f32", "kernel_mul_mat_f32_f32", "f32", n, 5, 2); });
  }
}

bool run(const std::string& platform, const std::string& folder) {
  const auto library = OpenclLibrary::open();
  if (!library) {
    throw std::runtime_error(library.error().message);
  }
  Device device(*library, platform, folder);
  Cases cases(device);
  run_arithmetic(cases);
  run_functions(cases);
  run_rows(cases);
  run_matrices(cases);
  fmt::print("{} launches, {} wrong\n", cases.all(), cases.wrong());
  return cases.wrong() == 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: llama_kernels PLATFORM FOLDER\n", stderr);
    return 2;
  }
  try {
    return run(argv[1], argv[2]) ? 0 : 1;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "llama_kernels: %s\n", failure.what());
    return 1;
  }
}
