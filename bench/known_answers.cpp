// Measures what the check of known answers costs a load, on every device of this machine: of each
// program of a bundle, the first load that checks, and later ones, which find in the user cache
// that it was right. In turn with these, loads that do not check. The first check includes what a
// driver compiles at a first launch (PoCL), which a launch of the application would otherwise do.
//
//     known_answers BUNDLE [ROUNDS]
//
// oclcc --tune --known-answers makes the bundle. OCL_ICD_VENDORS and RUSTICL_ENABLE choose the
// platforms. Exit status 1 if an answer of a binary is wrong, which ROUNDS repeat.

#include "base/file_io.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "loader/load_program.hpp"
#include "opencl/device_query.hpp"
#include "timed_driver.hpp"

#include <cstdlib>
#include <fmt/core.h>

namespace {

using namespace clbin;
using base::Result;
using bench::median;

constexpr loader::AnswerCheck k_once{loader::AnswerCheck::When::once, loader::check_answers};
constexpr loader::AnswerCheck k_always{loader::AnswerCheck::When::always, loader::check_answers};

struct Bench {
  opencl::Driver driver;
  const format::BundleReader& bundle;
  int rounds;
};

// Returns the microseconds of the load, and adds what is wrong to `wrong`.
double load(const Bench& bench, cl_context context, cl_device_id device,
            const format::GroupView& group, const cache::CacheSettings& settings,
            const loader::AnswerCheck* check, int& wrong) {
  loader::LoadRequest request;
  request.program = group.program;
  request.variant = group.variant;
  request.devices = {device};
  request.answers = check;
  request.answers_limit = std::chrono::hours(1);
  request.detail = loader::ReportDetail::attempts_only;
  loader::LoadReport report;
  loader::ProgramCache cache(settings);
  const auto start = bench::Clock::now();
  const auto program =
      loader::load_program(bench.driver, bench.bundle, cache, context, request, report);
  const double time = bench::microseconds_since(start);
  const bool is_wrong =
      !program || std::ranges::any_of(report.attempts, [](const loader::Attempt& attempt) {
        return attempt.decision == loader::Decision::wrong_answer;
      });
  if (is_wrong) {
    fmt::print("{}\n", loader::describe(report));
    ++wrong;
  }
  return time;
}

Result<int> measure(const Bench& bench, cl_device_id device) {
  cl_int code = CL_SUCCESS;
  const opencl::Context context(
      bench.driver.CreateContext(nullptr, 1, &device, nullptr, nullptr, &code),
      bench.driver.ReleaseContext);
  if (code != CL_SUCCESS) {
    return opencl::call_failed("clCreateContext", {}, code);
  }
  CLBIN_TRY_ASSIGN(const auto identity, opencl::query_identity(bench.driver, device));
  CLBIN_TRY_ASSIGN(const auto folder, base::TemporaryFolder::create({}, "known_answers"));
  cache::CacheSettings settings = cache::CacheSettings::from_environment(cache::this_process());
  settings.use = cache::CacheUse::on;
  settings.folder = folder.path();
  int wrong = 0;
  double first = 0;
  double always = 0;
  double later = 0;
  for (std::uint32_t index = 0; index < bench.bundle.group_count(); ++index) {
    CLBIN_TRY_ASSIGN(const auto group, bench.bundle.group(index));
    const auto timed = [&](const loader::AnswerCheck* check) {
      return load(bench, context.get(), device, group, settings, check, wrong);
    };
    (void)timed(nullptr); // builds what no entry of the bundle matches
    const double before = median({timed(nullptr), timed(nullptr), timed(nullptr)});
    first += timed(&k_once) - before;
    std::vector<double> unchecked;
    std::vector<double> remembered;
    std::vector<double> repeated;
    for (int round = 0; round < bench.rounds; ++round) {
      unchecked.push_back(timed(nullptr));
      remembered.push_back(timed(&k_once));
      repeated.push_back(timed(&k_always));
    }
    always += median(repeated) - median(unchecked);
    later += median(remembered) - median(unchecked);
  }
  fmt::print("{:28.28} {:8} {:10.1f} {:10.1f} {:10.0f} {:6}\n", identity.platform_name,
             bench.bundle.group_count(), first / 1000, always / 1000,
             later / bench.bundle.group_count(), wrong);
  return wrong;
}

Result<int> measure_all(const char* path, int rounds) {
  CLBIN_TRY_ASSIGN(auto source, base::open_file_source(path));
  CLBIN_TRY_ASSIGN(const auto bundle, format::BundleReader::open(std::move(source)));
  CLBIN_TRY_ASSIGN(const opencl::Driver driver, opencl::open_icd_driver());
  CLBIN_TRY_ASSIGN(const auto platforms, opencl::list_platforms(driver));
  fmt::print("{:28} {:>8} {:>10} {:>10} {:>10} {:>6}\n", "platform", "variants", "first ms",
             "each ms", "later us", "wrong");
  int wrong = 0;
  for (cl_platform_id platform : platforms) {
    CLBIN_TRY_ASSIGN(const auto devices, opencl::list_devices(driver, platform));
    for (cl_device_id device : devices) {
      CLBIN_TRY_ASSIGN(const int here, measure({driver, bundle, rounds}, device));
      wrong += here;
    }
  }
  return wrong;
}

} // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 50;
  if (argc < 2 || rounds < 1) {
    fmt::print(stderr, "usage: known_answers BUNDLE [ROUNDS]\n");
    return 2;
  }
  const Result<int> wrong = measure_all(argv[1], rounds);
  if (!wrong) {
    fmt::print(stderr, "known_answers: {}\n", wrong.error().message);
    return 2;
  }
  return *wrong == 0 ? 0 : 1;
}
