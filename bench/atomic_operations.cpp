// Runs the kernels of atomic_operations.cl on a device, and checks that no operation is lost:
// 10,485,760 of each kind, for int, uint, long and ulong in global and in local memory, with the
// orders relaxed, acq_rel and seq_cst, and the scopes sub_group, work_group, device and
// all_devices.
//
//   atomic_operations PLATFORM BUNDLE
//
// PLATFORM is a part of the name of the platform. atomic_operations.sh makes the bundle. Prints a
// line for each variant. Exit status 0; 1 if a result is wrong, or an error.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include "clbin/opencl.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr std::size_t k_items = 65536;
constexpr std::size_t k_group = 256;
constexpr std::size_t k_cells = 2048;
constexpr cl_uint k_steps = 160;

template <typename T>
constexpr T k_unit = sizeof(T) == 4 ? static_cast<T>(0x10001) : static_cast<T>(0x1000000010001);

cl::Device find_device(const std::string& platform_name) {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  for (const cl::Platform& platform : platforms) {
    if (platform.getInfo<CL_PLATFORM_NAME>().find(platform_name) != std::string::npos) {
      std::vector<cl::Device> devices;
      platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
      return devices.front();
    }
  }
  throw cl::Error(CL_DEVICE_NOT_FOUND, "there is no such platform");
}

template <typename T>
T first_value(const std::string& kernel) {
  if (kernel == "minimum") {
    return std::numeric_limits<T>::max();
  }
  return kernel == "maximum" ? std::numeric_limits<T>::lowest() : T(0);
}

// What a cell contains at the end; those of `exchange` and `message` are checked otherwise.
template <typename T>
T last_value(const std::string& kernel) {
  // Unsigned, because sums wrap.
  const auto unit = static_cast<cl_ulong>(k_unit<T>);
  const cl_ulong sum = 32 * 33 / 2 * cl_ulong(k_steps) * unit;
  if (kernel == "add") {
    return static_cast<T>(sum);
  }
  if (kernel == "sub") {
    return static_cast<T>(cl_ulong(0) - sum);
  }
  if (kernel == "bits") {
    return static_cast<T>(0xffffffffU);
  }
  if (kernel.starts_with("compare")) {
    return static_cast<T>(32 * cl_ulong(k_steps) * unit);
  }
  if (kernel == "load_store") {
    return static_cast<T>(k_steps * unit);
  }
  T largest = 0;
  for (cl_uint bit = 0; bit < 32; ++bit) {
    largest = std::max(largest, static_cast<T>((k_steps - 1) * 64 + (bit + k_steps - 1) % 64));
  }
  const T start = static_cast<T>(static_cast<T>(-1) / 2);
  return kernel == "maximum" ? largest : static_cast<T>(start - largest);
}

class Tester {
public:
  Tester(const cl::Device& device, const char* bundle)
      : m_device(device), m_context(device), m_queue(m_context, device),
        m_bundle(clbin::Bundle::open(bundle)) {}

  // Returns the number of wrong results.
  template <typename T>
  cl_uint run(const std::string& variant, const std::vector<std::string>& kernels) {
    clbin::LoadOptions options;
    options.variant(variant).fallback(clbin::Fallback::never).do_not_store();
    const cl::Program program = m_bundle.load(m_context, m_device, "atomic_operations", options);
    cl_uint wrong = 0;
    for (const std::string& kernel : kernels) {
      const cl_uint of_kernel = run_kernel<T>(program, kernel);
      if (of_kernel != 0) {
        std::printf("%s, %s: %u wrong\n", variant.c_str(), kernel.c_str(), of_kernel);
      }
      wrong += of_kernel;
    }
    std::printf("%s: %zu kernels, %zu operations each, %u wrong\n", variant.c_str(), kernels.size(),
                k_items * k_steps, wrong);
    return wrong;
  }

private:
  template <typename T>
  cl_uint run_kernel(const cl::Program& program, const std::string& name) {
    std::vector<T> cells(2 * k_cells, T(0));
    std::fill_n(cells.begin(), k_cells, first_value<T>(name));
    std::vector<T> held(k_items);
    cl_uint errors = 0;
    cl::Buffer of_cells(m_context, cells.begin(), cells.end(), false);
    cl::Buffer of_held(m_context, held.begin(), held.end(), false);
    cl::Buffer of_errors(m_context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof errors,
                         &errors);
    cl::Kernel kernel(program, name.c_str());
    kernel.setArg(0, of_cells);
    kernel.setArg(1, of_held);
    kernel.setArg(2, of_errors);
    kernel.setArg(3, k_steps);
    m_queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(k_items), cl::NDRange(k_group));
    cl::copy(m_queue, of_cells, cells.begin(), cells.end());
    cl::copy(m_queue, of_held, held.begin(), held.end());
    m_queue.enqueueReadBuffer(of_errors, CL_TRUE, 0, sizeof errors, &errors);
    cells.resize(k_cells);
    return errors + wrong_cells(name, cells, held);
  }

  template <typename T>
  static cl_uint wrong_cells(const std::string& kernel, const std::vector<T>& cells,
                             std::vector<T> held) {
    if (kernel == "message") {
      return 0;
    }
    if (kernel != "exchange") {
      const auto right = std::count(cells.begin(), cells.end(), last_value<T>(kernel));
      return static_cast<cl_uint>(static_cast<std::ptrdiff_t>(k_cells) - right);
    }
    // A cell began with 0, and an item with its number + 1.
    held.insert(held.end(), cells.begin(), cells.end());
    std::sort(held.begin(), held.end());
    cl_uint wrong = 0;
    for (std::size_t i = 0; i < held.size(); ++i) {
      wrong += held[i] == static_cast<T>(i < k_cells ? 0 : i - k_cells + 1) ? 0 : 1;
    }
    return wrong;
  }

  cl::Device m_device;
  cl::Context m_context;
  cl::CommandQueue m_queue;
  clbin::Bundle m_bundle;
};

template <typename T>
cl_uint run_type(Tester& tester, const std::string& type) {
  cl_uint wrong = 0;
  for (const std::string place : {"far", "near"}) {
    std::vector<std::string> kernels = {"add",     "sub",      "bits",          "maximum",
                                        "minimum", "exchange", "compare_strong"};
    wrong += tester.run<T>(type + "-" + place, kernels);
    kernels.insert(kernels.end(), {"compare_weak", "load_store"});
    for (const std::string order : {"relaxed", "acq_rel", "seq_cst"}) {
      for (const char* scope : {"sub_group", "work_group", "device", "all_devices"}) {
        wrong += tester.run<T>(type + "-" + place + "-" + order + "-" + scope, kernels);
      }
      if (order == "relaxed") {
        kernels.push_back("message");
      }
    }
  }
  return wrong;
}

int run(const char* platform, const char* bundle) {
  const cl::Device device = find_device(platform);
  std::printf("%s\n", device.getInfo<CL_DEVICE_NAME>().c_str());
  Tester tester(device, bundle);
  const cl_uint wrong = run_type<cl_int>(tester, "int") + run_type<cl_uint>(tester, "uint") +
                        run_type<cl_long>(tester, "long") + run_type<cl_ulong>(tester, "ulong");
  std::printf("%u wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fputs("usage: atomic_operations PLATFORM BUNDLE\n", stderr);
    return 2;
  }
  return run(argv[1], argv[2]);
} catch (const clbin::Error& error) {
  std::fprintf(stderr, "atomic_operations: %s\n", error.what());
  return 1;
} catch (const cl::Error& error) {
  std::fprintf(stderr, "atomic_operations: %s: OpenCL error %d\n", error.what(), error.err());
  return 1;
}
