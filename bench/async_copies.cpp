// Checks and measures the kernels of async_copies.cl on a device.
//
//   async_copies PLATFORM CHECKED_BUNDLE SOURCE BUNDLE…
//
// PLATFORM is a part of the name of the platform. async_copies.sh makes the bundles. Copies every
// type of CHECKED_BUNDLE with several counts, alignments and work-groups, and compares all bytes of
// the result. Then measures the kernels of each BUNDLE, and of SOURCE compiled by the driver, in
// turn: the median of 15 launches each. Exit status 0; 1 if a result is wrong, or an error.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include "clbin/opencl.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<unsigned char>;

clbin::LoadOptions only_entries() {
  clbin::LoadOptions options;
  options.fallback(clbin::Fallback::never).do_not_store();
  return options;
}

struct Copy {
  const char* kernel;
  cl_uint stride;
  cl_uint count;
  cl_uint skip;
  cl_uint near_skip;
  cl::NDRange group;
};

std::vector<Copy> all_copies() {
  std::vector<Copy> copies;
  for (const cl::NDRange& group :
       {cl::NDRange(64), cl::NDRange(8, 8), cl::NDRange(4, 4, 4), cl::NDRange(33, 3)}) {
    for (const cl_uint count : {0U, 1U, 3U, 4U, 31U, 64U, 100U, 257U}) {
      for (const auto& [skip, near_skip] : {std::pair(0U, 0U), {1U, 0U}, {0U, 1U}, {2U, 2U}}) {
        copies.push_back({"contiguous", 1, count, skip, near_skip, group});
        copies.push_back({"strided", 3, count, skip, near_skip, group});
      }
    }
  }
  return copies;
}

class Device {
public:
  explicit Device(const std::string& platform_name) : m_device(find(platform_name)) {
    m_context = cl::Context(m_device);
    m_queue = cl::CommandQueue(m_context, m_device, CL_QUEUE_PROFILING_ENABLE);
  }

  cl::Program load(const std::string& path, const char* variant) {
    return clbin::Bundle::open(path).load(m_context, m_device, "async_copies",
                                          only_entries().variant(variant));
  }

  cl::Program build(const char* path) {
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    cl::Program program(m_context, text);
    program.build({m_device});
    return program;
  }

  // Returns the number of copies with a wrong byte.
  unsigned check(const cl::Program& program, std::size_t element) {
    const std::vector<Copy> copies = all_copies();
    return static_cast<unsigned>(std::count_if(copies.begin(), copies.end(), [&](const Copy& copy) {
      return !is_right(program, copy, element);
    }));
  }

  double seconds(const cl::Program& program, const std::string& name) {
    const bool is_product = name.starts_with("product");
    const cl_uint size = is_product ? 2048 : 64;
    const std::size_t numbers = std::size_t(64) << 20;
    if (m_from() == nullptr) {
      m_from = cl::Buffer(m_context, CL_MEM_READ_ONLY, (numbers + 1) * sizeof(float));
      m_to = cl::Buffer(m_context, CL_MEM_WRITE_ONLY, numbers * sizeof(float));
      m_queue.enqueueFillBuffer(m_from, 0.5F, 0, (numbers + 1) * sizeof(float));
    }
    cl::Kernel kernel(program, name.c_str());
    kernel.setArg(0, m_from);
    kernel.setArg(1, m_to);
    kernel.setArg(2, size);
    const cl::NDRange group = is_product ? cl::NDRange(16, 16) : cl::NDRange(256);
    const cl::NDRange items =
        is_product ? cl::NDRange(size / 4, size / 4) : cl::NDRange(numbers / size / 1024 * 256);
    cl::Event event;
    m_queue.enqueueNDRangeKernel(kernel, cl::NullRange, items, group, nullptr, &event);
    event.wait();
    return 1e-9 * double(event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                         event.getProfilingInfo<CL_PROFILING_COMMAND_START>());
  }

private:
  static cl::Device find(const std::string& platform_name) {
    std::vector<cl::Platform> platforms;
    cl::Platform::get(&platforms);
    for (const cl::Platform& platform : platforms) {
      if (platform.getInfo<CL_PLATFORM_NAME>().find(platform_name) != std::string::npos) {
        std::vector<cl::Device> devices;
        platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
        std::printf("%s\n", devices.front().getInfo<CL_DEVICE_NAME>().c_str());
        return devices.front();
      }
    }
    throw cl::Error(CL_DEVICE_NOT_FOUND, "there is no such platform");
  }

  bool is_right(const cl::Program& program, const Copy& copy, std::size_t element) {
    Bytes from(element * 1024);
    std::generate(from.begin(), from.end(), [this] { return (unsigned char)m_random(); });
    Bytes to(from.size(), 0xa5);
    Bytes expected = to;
    for (std::size_t i = 0; i < copy.count; ++i) {
      const auto at = static_cast<std::ptrdiff_t>((copy.skip + i * copy.stride) * element);
      std::copy_n(from.begin() + at, element, expected.begin() + at);
    }
    cl::Buffer of_from(m_context, from.begin(), from.end(), true);
    cl::Buffer of_to(m_context, to.begin(), to.end(), false);
    cl::Kernel kernel(program, copy.kernel);
    kernel.setArg(0, of_from);
    kernel.setArg(1, of_to);
    kernel.setArg(2, cl::Local(element * 260));
    kernel.setArg(3, copy.count);
    kernel.setArg(4, copy.skip);
    kernel.setArg(5, copy.near_skip);
    m_queue.enqueueNDRangeKernel(kernel, cl::NullRange, copy.group, copy.group);
    cl::copy(m_queue, of_to, to.begin(), to.end());
    return to == expected;
  }

  cl::Device m_device;
  cl::Context m_context;
  cl::CommandQueue m_queue;
  cl::Buffer m_from;
  cl::Buffer m_to;
  std::minstd_rand m_random;
};

// Of a type's name, "uchar16".
std::size_t bytes_of(const std::string& type) {
  const std::size_t digits = std::min(type.find_first_of("123468"), type.size());
  const std::string base = type.substr(0, digits);
  const std::size_t width = digits == type.size() ? 1 : std::stoul(type.substr(digits));
  const bool is_eight = base.ends_with("long") || base == "double";
  const bool is_two = base.ends_with("short") || base == "half";
  const std::size_t bytes = is_eight ? 8 : is_two ? 2 : base.ends_with("char") ? 1 : 4;
  return bytes * (width == 3 ? 4 : width);
}

// Returns the number of wrong copies.
unsigned check_types(Device& device, const char* bundle) {
  unsigned wrong = 0;
  std::size_t types = 0;
  for (const clbin::Group& group : clbin::Bundle::open(bundle).list()) {
    const std::string& type = group.variant;
    if (type == "default") {
      continue;
    }
    const unsigned of_type = device.check(device.load(bundle, type.c_str()), bytes_of(type));
    if (of_type != 0) {
      std::printf("%s: %u copies are wrong\n", type.c_str(), of_type);
    }
    wrong += of_type;
    ++types;
  }
  std::printf("%s: %zu types, %zu copies of each, %u wrong\n", bundle, types, all_copies().size(),
              wrong);
  return wrong;
}

// Returns the median of each program's launches, in turn.
std::vector<double> median_seconds(Device& device, const std::vector<cl::Program>& programs,
                                   const char* kernel) {
  std::vector<std::vector<double>> seconds(programs.size());
  for (int round = 0; round < 16; ++round) {
    for (std::size_t i = 0; i < programs.size(); ++i) {
      const double of_launch = device.seconds(programs[i], kernel);
      if (round != 0) { // the first warms up
        seconds[i].push_back(of_launch);
      }
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& of_program : seconds) {
    std::sort(of_program.begin(), of_program.end());
    medians.push_back(of_program[of_program.size() / 2]);
  }
  return medians;
}

void measure(Device& device, const char* source, const std::vector<const char*>& bundles) {
  std::vector<cl::Program> programs = {device.build(source)};
  for (const char* bundle : bundles) {
    programs.push_back(device.load(bundle, "default"));
  }
  for (const char* kernel : {"stream_copy_only", "stream_balanced", "stream_unaligned",
                             "product_by_rows", "product_by_items"}) {
    std::printf("%-18s", kernel);
    for (const double seconds : median_seconds(device, programs, kernel)) {
      std::printf(" %9.1f us", 1e6 * seconds);
    }
    std::printf("\n");
  }
}

int run(const char* platform, const char* checked, const char* source,
        const std::vector<const char*>& bundles) {
  Device device(platform);
  const unsigned wrong = check_types(device, checked);
  measure(device, source, bundles);
  return wrong == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) try {
  if (argc < 4) {
    std::fputs("usage: async_copies PLATFORM CHECKED_BUNDLE SOURCE BUNDLE...\n", stderr);
    return 2;
  }
  return run(argv[1], argv[2], argv[3], {argv + 4, argv + argc});
} catch (const clbin::Error& error) {
  std::fprintf(stderr, "async_copies: %s\n", error.what());
  return 1;
} catch (const cl::Error& error) {
  std::fprintf(stderr, "async_copies: %s: OpenCL error %d\n", error.what(), error.err());
  return 1;
}
