// Measures a warm clbin_build on every device of this machine: the whole call (identify the source,
// look it up, read, check, decompress, query the device, check the kernels) beside the bare create
// and build of the same binary. Floor of libclbin's own time: that of a load, 100 us + 3 us per KiB
// of the binary, and the digest of the source, which this program measures in the same run
// (doc/performance.md). Also measures clbin_build of a program that its builder has made before:
// at most 50 us.
//
//     build_overhead [ROUNDS [KERNELS [SOURCE_KIB]]]
//
// OCL_ICD_VENDORS and RUSTICL_ENABLE choose the platforms. Exit status 1 if a floor is missed.

#include "clbin/clbin.hpp"

#include "base/digest.hpp"
#include "base/file_io.hpp"
#include "loader/run_time_program.hpp"
#include "opencl/device_query.hpp"
#include "opencl/program_build.hpp"
#include "timed_driver.hpp"

#include <cstdlib>
#include <fmt/core.h>
#include <string>
#include <vector>

namespace {

using namespace clbin;
using base::ErrorCode;
using base::Result;
using bench::Clock;
using bench::median;
using bench::microseconds_since;

constexpr double k_again_limit = 50; // microseconds

// A text of at least `bytes` bytes: kernels, then comments and macros as programs in use have them.
std::string source_text(int kernels, std::size_t bytes) {
  std::string text = bench::kernel_source(kernels);
  for (int i = 0; text.size() < bytes; ++i) {
    text += fmt::format("#define VALUE_{}(x) \\\n  ((x) * {}.0f) /* one of many */\n", i, i);
  }
  return text;
}

struct Program {
  const opencl::Driver& driver;
  loader::BuilderState& builder;
  cl_context context;
  cl_device_id device;
  const std::string& text;

  [[nodiscard]] Result<std::unique_ptr<loader::RunTimeProgram>>
  begin(const opencl::Driver& functions, loader::LoadReport& report) const {
    loader::RunTimeRequest request;
    request.source.strings = {text};
    request.devices = {device};
    request.detail = loader::ReportDetail::attempts_only;
    request.examination = loader::Examination::after_a_miss;
    return loader::RunTimeProgram::begin(functions, builder, context, std::move(request), report);
  }
};

// Builds and stores the program. Returns its binary.
Result<base::Bytes> fill_cache(const Program& program) {
  loader::LoadReport report;
  CLBIN_TRY_ASSIGN(auto cold, program.begin(program.driver, report));
  CLBIN_TRY_ASSIGN(const auto built, cold->build());
  cold->keep(built.get(), loader::KeepTime::after_launches);
  program.builder.cache().stores.drain();
  return opencl::program_binary(program.driver, built.get(), program.device);
}

struct Times {
  double total = 0;
  double in_driver = 0; // create and build
};

Result<Times> time_warm(const Program& program, const opencl::Driver& timed) {
  (void)bench::take_driver_time();
  const auto start = Clock::now();
  loader::LoadReport report;
  CLBIN_TRY_ASSIGN(auto warm, program.begin(timed, report));
  const auto served = warm->serve();
  const Times times{microseconds_since(start), bench::take_driver_time()};
  if (!served.has_value() || served->origin != loader::Origin::user_cache) {
    return base::fail(ErrorCode::internal, "the user cache does not serve the program:\n{}",
                      loader::describe(report));
  }
  return times;
}

double time_digest(const std::string& text) {
  const auto start = Clock::now();
  const base::Digest digest = base::digest_of(base::as_bytes(text));
  const double time = microseconds_since(start);
  return base::leading_u64(digest) == 0 ? 0 : time; // uses the digest
}

// A clbin_build of a program that the builder has made before, in microseconds.
Result<double> time_again(cl_context context, cl_device_id device, const std::string& text,
                          int rounds) {
  const Builder builder;
  const Source source(text);
  const cl_program first = builder.build(context, device, source);
  std::vector<double> again;
  bool is_same = true;
  for (int round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    const cl_program program = builder.build(context, device, source);
    again.push_back(microseconds_since(start));
    is_same = is_same && program == first;
  }
  if (!is_same) {
    return base::fail(ErrorCode::internal, "the builder has made a program again");
  }
  return median(again);
}

// Alternates warm builds and bare builds, so that both run under the same conditions.
Result<bool> measure(const opencl::Driver& driver, cl_device_id device, int rounds,
                     const std::string& text) {
  cl_int code = CL_SUCCESS;
  const opencl::Context context(driver.CreateContext(nullptr, 1, &device, nullptr, nullptr, &code),
                                driver.ReleaseContext);
  if (code != CL_SUCCESS) {
    return base::fail(ErrorCode::opencl_call, "clCreateContext failed: {}", code);
  }
  CLBIN_TRY_ASSIGN(const auto identity, opencl::query_identity(driver, device));
  CLBIN_TRY_ASSIGN(const auto folder, base::TemporaryFolder::create({}, "build_overhead"));
  auto settings = cache::CacheSettings::from_environment(cache::this_process());
  settings.use = cache::CacheUse::on;
  settings.folder = folder.path() / "clbin";
  settings.on_pocl = cache::CacheOnPocl::yes;
  loader::BuilderState builder(settings, settings, loader::UnsignedSource::built);
  const Program program{driver, builder, context.get(), device, text};
  CLBIN_TRY_ASSIGN(const base::Bytes binary, fill_cache(program));
  const opencl::Driver timed = bench::timed_driver(driver);

  std::vector<double> own;
  std::vector<double> warm;
  std::vector<double> bare;
  std::vector<double> digest;
  for (int round = 0; round < rounds; ++round) {
    CLBIN_TRY_ASSIGN(const Times times, time_warm(program, timed));
    CLBIN_TRY_ASSIGN(const double bare_time,
                     bench::time_bare(driver, binary, context.get(), device));
    own.push_back(times.total - times.in_driver);
    warm.push_back(times.total);
    bare.push_back(bare_time);
    digest.push_back(time_digest(text));
  }
  const double kib = static_cast<double>(binary.size()) / 1024.0;
  const double floor = 100.0 + 3.0 * kib + median(digest);
  CLBIN_TRY_ASSIGN(const double again, time_again(context.get(), device, text, rounds));
  const bool is_within = median(own) <= floor && again <= k_again_limit;
  fmt::print(
      "{:28.28} {:8.1f} {:8.1f} {:10.0f} {:10.0f} {:7.2f} {:10.0f} {:10.0f} {:7.2f} {:9.1f}  {}\n",
      identity.platform_name, static_cast<double>(text.size()) / 1024.0, kib, median(bare),
      median(warm), median(warm) / median(bare), median(own), floor, median(own) / floor, again,
      is_within ? "within" : "ABOVE");
  return is_within;
}

Result<bool> measure_all(int rounds, const std::string& text) {
  CLBIN_TRY_ASSIGN(const opencl::Driver driver, opencl::open_icd_driver());
  CLBIN_TRY_ASSIGN(const auto platforms, opencl::list_platforms(driver));
  fmt::print("{:28} {:>8} {:>8} {:>10} {:>10} {:>7} {:>10} {:>10} {:>7} {:>9}\n", "platform",
             "text KiB", "raw KiB", "bare us", "warm us", "ratio", "own us", "floor us", "ratio",
             "again us");
  bool all_within = true;
  for (cl_platform_id platform : platforms) {
    CLBIN_TRY_ASSIGN(const auto devices, opencl::list_devices(driver, platform));
    for (cl_device_id device : devices) {
      CLBIN_TRY_ASSIGN(const bool is_within, measure(driver, device, rounds, text));
      all_within = all_within && is_within;
    }
  }
  return all_within;
}

} // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  const int kernels = argc > 2 ? std::atoi(argv[2]) : 2;
  const int kib = argc > 3 ? std::atoi(argv[3]) : 1;
  if (rounds < 1 || kernels < 1 || kib < 1) {
    fmt::print(stderr, "usage: build_overhead [ROUNDS [KERNELS [SOURCE_KIB]]]\n");
    return 2;
  }
  const Result<bool> all_within =
      measure_all(rounds, source_text(kernels, static_cast<std::size_t>(kib) * 1024));
  if (!all_within) {
    fmt::print(stderr, "build_overhead: {}\n", all_within.error().message);
    return 2;
  }
  return *all_within ? 0 : 1;
}
