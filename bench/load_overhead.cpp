// Measures libclbin's own time in a load, on every device of this machine: the whole load (open the
// file, select, read, check, decompress, query the device, check the kernels) except the create and
// build calls of the driver. Floor: 100 us + 3 us per KiB of raw payload (doc/performance.md).
//
//     load_overhead [ROUNDS [KERNELS]]
//
// OCL_ICD_VENDORS and RUSTICL_ENABLE choose the platforms. Exit status 1 if a floor is missed.

#include "base/file_io.hpp"
#include "base/output_file.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "loader/load_program.hpp"
#include "opencl/device_query.hpp"
#include "opencl/program_build.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/core.h>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace clbin;
using base::ErrorCode;
using base::Result;
using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The functions of the driver have no user pointer, so the state of their wrappers must be static.
struct DriverClock {
  opencl::Driver real;
  double microseconds = 0;
};

DriverClock& driver_clock() {
  static DriverClock clock;
  return clock;
}

cl_program CL_API_CALL timed_create(cl_context context, cl_uint count, const cl_device_id* devices,
                                    const std::size_t* lengths, const unsigned char** binaries,
                                    cl_int* statuses, cl_int* code) {
  const auto start = Clock::now();
  cl_program program = driver_clock().real.CreateProgramWithBinary(context, count, devices, lengths,
                                                                   binaries, statuses, code);
  driver_clock().microseconds += microseconds_since(start);
  return program;
}

cl_int CL_API_CALL timed_build(cl_program program, cl_uint count, const cl_device_id* devices,
                               const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                               void* user_data) {
  const auto start = Clock::now();
  const cl_int code =
      driver_clock().real.BuildProgram(program, count, devices, options, notify, user_data);
  driver_clock().microseconds += microseconds_since(start);
  return code;
}

std::string kernel_source(int kernels) {
  std::string text;
  for (int i = 0; i < kernels; ++i) {
    text += fmt::format("kernel void k{}(global float* a, const int n) {{\n"
                        "  const int i = get_global_id(0);\n"
                        "  if (i < n) {{ a[i] = a[i] * {}.5f + native_sin(a[i]); }}\n}}\n",
                        i, i);
  }
  return text;
}

struct Sample {
  format::DeviceIdentity identity;
  base::Bytes binary;
  std::vector<std::string> kernels;
};

Result<Sample> make_sample(const opencl::Driver& driver, cl_context context, cl_device_id device,
                           int kernels) {
  Sample sample;
  CLBIN_TRY_ASSIGN(sample.identity, opencl::query_identity(driver, device));
  const format::SourcePackage source{{"k.cl", "k.cl", kernel_source(kernels)}, {}};
  const opencl::BuildOutcome built =
      opencl::build_from_source(driver, context, {device}, source, "");
  if (built.code != CL_SUCCESS) {
    return base::fail(ErrorCode::build_failed, "{}", built.log);
  }
  CLBIN_TRY_ASSIGN(sample.binary, opencl::program_binary(driver, built.program.get(), device));
  for (int i = 0; i < kernels; ++i) {
    sample.kernels.push_back(fmt::format("k{}", i));
  }
  return sample;
}

Result<base::Bytes> bundle_of(const Sample& sample) {
  format::BundleInput input;
  input.producer = "load_overhead";
  format::ProgramInput& program = input.programs.emplace_back();
  program.name = "k";
  program.variants = {{"default", ""}};
  format::EntryInput& entry = program.entries.emplace_back();
  entry.variant = "default";
  entry.target.identity = sample.identity;
  entry.payload = sample.binary;
  for (const std::string& name : sample.kernels) {
    entry.kernels.emplace_back().name = name;
  }
  return format::write_bundle(input, {});
}

struct Times {
  double total = 0;
  double in_driver = 0; // create and build
};

Result<Times> time_load(const opencl::Driver& timed, const std::filesystem::path& path,
                        cl_context context, cl_device_id device) {
  driver_clock().microseconds = 0;
  const auto start = Clock::now();
  CLBIN_TRY_ASSIGN(auto source, base::open_file_source(path));
  CLBIN_TRY_ASSIGN(const auto bundle, format::BundleReader::open(std::move(source), {},
                                                                 format::TrailingBytes::refuse));
  loader::ProgramCache cache(cache::CacheSettings::from_environment(cache::this_process()));
  loader::LoadRequest request;
  request.program = "k";
  request.devices = {device};
  request.fallback = loader::FallbackPolicy::never;
  loader::LoadReport report;
  CLBIN_TRY_ASSIGN(const auto program,
                   loader::load_program(timed, bundle, cache, context, request, report));
  return Times{microseconds_since(start), driver_clock().microseconds};
}

Result<double> time_bare(const opencl::Driver& driver, const Sample& sample, cl_context context,
                         cl_device_id device) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(sample.binary.data());
  const std::size_t size = sample.binary.size();
  cl_int status = CL_SUCCESS;
  cl_int code = CL_SUCCESS;
  const auto start = Clock::now();
  const opencl::Program program(
      driver.CreateProgramWithBinary(context, 1, &device, &size, &bytes, &status, &code),
      driver.ReleaseProgram);
  if (code == CL_SUCCESS) {
    code = driver.BuildProgram(program.get(), 1, &device, "", nullptr, nullptr);
  }
  const double time = microseconds_since(start);
  if (code != CL_SUCCESS) {
    return base::fail(ErrorCode::binary_refused, "the driver refuses its own binary: {}", code);
  }
  return time;
}

// Alternates loads and bare builds, so that both run under the same conditions.
Result<bool> measure(const opencl::Driver& driver, cl_device_id device, int rounds, int kernels) {
  cl_int code = CL_SUCCESS;
  const opencl::Context context(driver.CreateContext(nullptr, 1, &device, nullptr, nullptr, &code),
                                driver.ReleaseContext);
  if (code != CL_SUCCESS) {
    return base::fail(ErrorCode::opencl_call, "clCreateContext failed: {}", code);
  }
  CLBIN_TRY_ASSIGN(const Sample sample, make_sample(driver, context.get(), device, kernels));
  CLBIN_TRY_ASSIGN(const base::Bytes bundle, bundle_of(sample));
  CLBIN_TRY_ASSIGN(const auto folder, base::TemporaryFolder::create({}, "load_overhead"));
  const std::filesystem::path path = folder.path() / "k.clbin";
  CLBIN_TRY(base::write_output_file(path, bundle));
  driver_clock().real = driver;
  opencl::Driver timed = driver;
  timed.CreateProgramWithBinary = timed_create;
  timed.BuildProgram = timed_build;

  std::vector<double> own;
  std::vector<double> load;
  std::vector<double> bare;
  for (int round = 0; round < rounds; ++round) {
    CLBIN_TRY_ASSIGN(const Times times, time_load(timed, path, context.get(), device));
    CLBIN_TRY_ASSIGN(const double bare_time, time_bare(driver, sample, context.get(), device));
    own.push_back(times.total - times.in_driver);
    load.push_back(times.total);
    bare.push_back(bare_time);
  }
  const double kib = static_cast<double>(sample.binary.size()) / 1024.0;
  const double floor = 100.0 + 3.0 * kib;
  const bool is_within = median(own) <= floor;
  fmt::print("{:28.28} {:8.1f} {:10.0f} {:10.0f} {:7.2f} {:10.0f} {:10.0f} {:7.2f}  {}\n",
             sample.identity.platform_name, kib, median(bare), median(load),
             median(load) / median(bare), median(own), floor, median(own) / floor,
             is_within ? "within" : "ABOVE");
  return is_within;
}

Result<bool> measure_all(int rounds, int kernels) {
  CLBIN_TRY_ASSIGN(const opencl::Driver driver, opencl::open_icd_driver());
  CLBIN_TRY_ASSIGN(const auto platforms, opencl::list_platforms(driver));
  fmt::print("{:28} {:>8} {:>10} {:>10} {:>7} {:>10} {:>10} {:>7}\n", "platform", "raw KiB",
             "bare us", "load us", "ratio", "own us", "floor us", "ratio");
  bool all_within = true;
  for (cl_platform_id platform : platforms) {
    CLBIN_TRY_ASSIGN(const auto devices, opencl::list_devices(driver, platform));
    for (cl_device_id device : devices) {
      CLBIN_TRY_ASSIGN(const bool is_within, measure(driver, device, rounds, kernels));
      all_within = all_within && is_within;
    }
  }
  return all_within;
}

} // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  const int kernels = argc > 2 ? std::atoi(argv[2]) : 2;
  if (rounds < 1 || kernels < 1) {
    fmt::print(stderr, "usage: load_overhead [ROUNDS [KERNELS]]\n");
    return 2;
  }
  const Result<bool> all_within = measure_all(rounds, kernels);
  if (!all_within) {
    fmt::print(stderr, "load_overhead: {}\n", all_within.error().message);
    return 2;
  }
  return *all_within ? 0 : 1;
}
