// Uses the drivers of this machine from many threads, each with its own context. On Oclgrind, the
// threads take turns, because it would crash (tests/unit/runtime_demo/driver_threads_test.cpp shows
// this with direct calls).
#include "driver_samples.hpp"
#include "loader/run_time_program.hpp"

#include <gtest/gtest.h>
#include <mutex>
#include <thread>

namespace clbin::loader {
namespace {

using test::InstalledDevice;

// `body` is one step of a thread, and gets its number. Each thread runs this many steps.
template <typename Body>
void run_together(const InstalledDevice& installed, int steps, const Body& body,
                  int thread_count = 4) {
  const bool in_turn = installed.name.starts_with("Oclgrind");
  std::mutex turn;
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&] {
      for (int step = 0; step < steps; ++step) {
        const auto lock = in_turn ? std::unique_lock(turn) : std::unique_lock<std::mutex>();
        body(step);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// ThreadSanitizer finds races inside Oclgrind and rusticl, which callers cannot prevent
// (doc/drivers.md: 12 and 13 warnings, none on PoCL).
bool is_clean(const InstalledDevice& installed) {
#if defined(__SANITIZE_THREAD__)
  return installed.name.starts_with("Portable Computing Language");
#else
  return !installed.name.empty();
#endif
}

void load_in_own_context(const InstalledDevice& installed, const format::BundleReader& bundle,
                         ProgramCache& cache, const std::string& extra_options, Origin wanted) {
  const opencl::Context context = test::make_context(installed);
  LoadRequest request = test::request_for({installed.device}, FallbackPolicy::if_needed);
  request.extra_options = extra_options;
  LoadReport report;
  const auto program =
      load_program(installed.driver, bundle, cache, context.get(), request, report);
  ASSERT_TRUE(program.has_value()) << program.error().message << "\n" << describe(report);
  EXPECT_TRUE(report.origin == wanted || report.origin == Origin::user_cache) << describe(report);
  test::expect_kernels(installed, *program);
}

TEST(LoadThreadsOnDrivers, OneBundleServesThemAll) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    if (!is_clean(installed)) {
      continue;
    }
    SCOPED_TRACE(installed.name);
    const opencl::Context context = test::make_context(installed);
    const auto bundle = test::make_bundle(
        {test::build_entry(installed, context, test::sample_source(), "-DBASE=2")});
    ProgramCache cache(cache::CacheSettings::from_environment(cache::this_process()));
    run_together(installed, 6, [&](int step) {
      if (step % 2 == 0) {
        load_in_own_context(installed, bundle, cache, "", Origin::entry);
      } else {
        load_in_own_context(installed, bundle, cache, "-DSEVEN=7", Origin::source);
      }
    });
  }
}

// The steps share sources: a thread is served what another has built.
TEST(LoadThreadsOnDrivers, OneBuilderServesThemAll) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    if (!is_clean(installed)) {
      continue;
    }
    SCOPED_TRACE(installed.name);
    const auto settings = cache::CacheSettings::from_environment(cache::this_process());
    BuilderState builder(settings, settings, UnsignedSource::built);
    const auto build = [&](int step) {
      const opencl::Context context = test::make_context(installed);
      const std::string text =
          fmt::format("kernel void k(global int* a) {{ a[0] = {}; }}\n", step % 2);
      RunTimeRequest request;
      request.source.strings = {text};
      request.devices = {installed.device};
      LoadReport report;
      auto program =
          RunTimeProgram::begin(installed.driver, builder, context.get(), request, report);
      ASSERT_TRUE(program.has_value()) << program.error().message;
      if ((*program)->serve().has_value()) {
        EXPECT_EQ(report.origin, Origin::user_cache) << describe(report);
        return;
      }
      const auto built = (*program)->build();
      ASSERT_TRUE(built.has_value()) << built.error().message;
      (*program)->keep(built->get());
    };
    run_together(installed, 4, build, 8);
  }
}

} // namespace
} // namespace clbin::loader
