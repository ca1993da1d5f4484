// Measures libclbin's own time in a load, on every device of this machine: the whole load (open the
// file, select, read, check, decompress, query the device, check the kernels) except the create and
// build calls of the driver. Floor: 100 us + 3 us per KiB of raw payload (doc/performance.md). In
// turn with these, loads from bundles with 1,000 measurements of four variants: on 49 other devices
// and this one, and on 50 others. They may take 20 us more.
//
//     load_overhead [ROUNDS [KERNELS]]
//
// OCL_ICD_VENDORS and RUSTICL_ENABLE choose the platforms. Exit status 1 if a floor is missed.

#include "base/file_io.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "loader/load_program.hpp"
#include "opencl/device_query.hpp"
#include "opencl/program_build.hpp"
#include "timed_driver.hpp"

#include <cstdlib>
#include <fmt/core.h>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace clbin;
using base::ErrorCode;
using base::Result;
using bench::Clock;
using bench::median;
using bench::microseconds_since;

struct Sample {
  format::DeviceIdentity identity;
  cl_device_type type = 0;
  base::Bytes binary;
  std::vector<std::string> kernels;
};

Result<Sample> make_sample(const opencl::Driver& driver, cl_context context, cl_device_id device,
                           int kernels) {
  Sample sample;
  CLBIN_TRY_ASSIGN(sample.identity, opencl::query_identity(driver, device));
  CLBIN_TRY_ASSIGN(sample.type,
                   opencl::device_value<cl_device_type>(driver, device, CL_DEVICE_TYPE));
  const format::SourcePackage source{{"k.cl", "k.cl", bench::kernel_source(kernels)}, {}};
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

enum class MeasuredOn : std::uint8_t { nothing, this_device, others };
constexpr double k_max_added_microseconds = 20;

// 50 devices, four variants, and five launches. "default" is the fastest, and the only one that has
// an entry.
void add_measurements(const MeasuredOn& where, const Sample& sample,
                      format::ProgramInput& program) {
  program.variants.insert(program.variants.end(), {{"a", "-DA"}, {"b", "-DB"}, {"c", "-DC"}});
  for (std::uint32_t number = 0; number < 50; ++number) {
    format::MeasuredDevice device = format::measured_device(sample.identity, sample.type);
    if (number != 0 || where == MeasuredOn::others) {
      device.device_name = fmt::format("device {}", number);
      device.architecture = fmt::format("architecture {}", number / 4);
      device.vendor = fmt::format("vendor {}", number / 16);
    }
    for (const format::VariantInput& variant : program.variants) {
      for (std::uint64_t size = 1; size <= 5; ++size) {
        format::Measurement& one = program.measurements.emplace_back();
        one.variant = variant.name;
        one.kernel = "k0";
        one.dimensions = 1;
        one.global_size = {1024 * size, 1, 1};
        one.device = device;
        one.median_ns = 1000 * size + (variant.name == "default" ? 0 : number + size);
        one.rounds = 5;
      }
    }
  }
}

Result<base::Bytes> bundle_of(const Sample& sample, MeasuredOn where) {
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
  if (where != MeasuredOn::nothing) {
    add_measurements(where, sample, program);
  }
  return format::write_bundle(input, {});
}

struct Times {
  double total = 0;
  double in_driver = 0; // create and build
};

Result<Times> time_load(const opencl::Driver& timed, const std::filesystem::path& path,
                        cl_context context, cl_device_id device) {
  (void)bench::take_driver_time();
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
  return Times{microseconds_since(start), bench::take_driver_time()};
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
  CLBIN_TRY_ASSIGN(const auto folder, base::TemporaryFolder::create({}, "load_overhead"));
  std::vector<std::filesystem::path> paths; // by MeasuredOn
  for (const auto where : {MeasuredOn::nothing, MeasuredOn::this_device, MeasuredOn::others}) {
    CLBIN_TRY_ASSIGN(const base::Bytes bundle, bundle_of(sample, where));
    paths.push_back(folder.path() / fmt::format("{}.clbin", paths.size()));
    CLBIN_TRY(base::write_output_file(paths.back(), bundle));
  }
  const opencl::Driver timed = bench::timed_driver(driver);

  std::vector<double> own;
  std::vector<double> with_this_device;
  std::vector<double> with_others;
  std::vector<double> load;
  std::vector<double> bare;
  for (int round = 0; round < rounds; ++round) {
    CLBIN_TRY_ASSIGN(const Times times, time_load(timed, paths[0], context.get(), device));
    CLBIN_TRY_ASSIGN(const Times here, time_load(timed, paths[1], context.get(), device));
    CLBIN_TRY_ASSIGN(const Times others, time_load(timed, paths[2], context.get(), device));
    with_this_device.push_back(here.total - here.in_driver);
    with_others.push_back(others.total - others.in_driver);
    CLBIN_TRY_ASSIGN(const double bare_time,
                     bench::time_bare(driver, sample.binary, context.get(), device));
    own.push_back(times.total - times.in_driver);
    load.push_back(times.total);
    bare.push_back(bare_time);
  }
  const double kib = static_cast<double>(sample.binary.size()) / 1024.0;
  const double floor = 100.0 + 3.0 * kib;
  const double added_here = median(with_this_device) - median(own);
  const double added_by_others = median(with_others) - median(own);
  const bool is_within =
      median(own) <= floor && std::max(added_here, added_by_others) <= k_max_added_microseconds;
  fmt::print("{:28.28} {:8.1f} {:10.0f} {:10.0f} {:7.2f} {:10.0f} {:10.0f} {:7.2f} {:+8.1f} "
             "{:+8.1f}  {}\n",
             sample.identity.platform_name, kib, median(bare), median(load),
             median(load) / median(bare), median(own), floor, median(own) / floor, added_here,
             added_by_others, is_within ? "within" : "ABOVE");
  return is_within;
}

Result<bool> measure_all(int rounds, int kernels) {
  CLBIN_TRY_ASSIGN(const opencl::Driver driver, opencl::open_icd_driver());
  CLBIN_TRY_ASSIGN(const auto platforms, opencl::list_platforms(driver));
  fmt::print("{:28} {:>8} {:>10} {:>10} {:>7} {:>10} {:>10} {:>7} {:>8} {:>8}\n", "platform",
             "raw KiB", "bare us", "load us", "ratio", "own us", "floor us", "ratio", "+here us",
             "+far us");
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
