// Uses one bundle, several contexts, and many bundles from many threads at once.
#include "base/file_io.hpp"
#include "loader_fixture.hpp"

#include <atomic>
#include <thread>

namespace clbin::loader {
namespace {

using test::BinaryAnswer;
using test::installed_target;
using test::unknown_identity;

constexpr int k_threads = 8;

class LoadThreads : public test::LoaderTest {
protected:
  [[nodiscard]] cache::CacheSettings settings() const {
    cache::CacheSettings settings = cache::CacheSettings::from_environment(cache::this_process());
    settings.use = cache::CacheUse::on;
    settings.why_off.clear(); // without HOME, the cache would be off
    settings.warning.clear();
    settings.folder = m_folder.path() / "clbin";
    settings.max_bytes = cache::CacheSettings::k_default_max_bytes;
    return settings;
  }

  template <typename Body>
  static void run_together(const Body& body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < k_threads; ++i) {
      threads.emplace_back(body, i);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }

  // Returns the origin, after releasing the program.
  [[nodiscard]] Origin load_once(const format::BundleReader& bundle, ProgramCache& cache,
                                 cl_context context, cl_device_id device) const {
    LoadRequest request;
    request.program = "p";
    request.devices = {device};
    LoadReport report;
    const auto program =
        load_program(m_driver.functions(), bundle, cache, context, request, report);
    EXPECT_TRUE(program.has_value()) << program.error().message;
    EXPECT_TRUE(report.warnings.empty()) << describe(report);
    return report.origin;
  }

  base::TemporaryFolder m_folder = base::TemporaryFolder::create({}, "clbin-threads-").value();
};

TEST_F(LoadThreads, OneBundleServesThemAllInSeveralContexts) {
  std::vector<cl_device_id> devices;
  std::vector<cl_context> contexts;
  for (const char* name : {"x", "y", "z"}) {
    const std::string payload = std::string("FOR ") + name;
    add_entry(installed_target(unknown_identity(name)), payload);
    script(payload, BinaryAnswer::accept);
    devices.push_back(m_driver.add_device(unknown_identity(name)));
    contexts.push_back(m_driver.add_context({devices.back()}));
  }
  const format::BundleReader& shared = bundle();
  ProgramCache cache(settings());
  run_together([&](int thread) {
    for (int round = 0; round < 30; ++round) {
      const auto which = static_cast<std::size_t>(thread + round) % devices.size();
      EXPECT_EQ(load_once(shared, cache, contexts[which], devices[which]), Origin::entry);
    }
  });
  EXPECT_EQ(m_driver.live_programs(), 0);
}

TEST_F(LoadThreads, OneBuildsAndTheOthersLoadWhatItBuilt) {
  add_source();
  m_driver.script_source({CL_SUCCESS, {"a", "b"}, "", "BUILT"});
  script("BUILT", BinaryAnswer::accept);
  cl_device_id device = m_driver.add_device(unknown_identity("d"));
  cl_context context = m_driver.add_context({device});
  const format::BundleReader& shared = bundle();
  std::atomic<int> built{0};
  std::atomic<int> cached{0};
  {
    ProgramCache cache(settings());
    run_together([&](int) {
      const Origin origin = load_once(shared, cache, context, device);
      built += origin == Origin::source ? 1 : 0;
      cached += origin == Origin::user_cache ? 1 : 0;
    });
  }
  EXPECT_EQ(built, 1);
  EXPECT_EQ(cached, k_threads - 1);
  EXPECT_EQ(m_driver.live_programs(), 0);
}

TEST_F(LoadThreads, ManyBundlesShareOneCacheFolder) {
  add_source();
  m_driver.script_source({CL_SUCCESS, {"a", "b"}, "", "BUILT"});
  script("BUILT", BinaryAnswer::accept);
  cl_device_id device = m_driver.add_device(unknown_identity("d"));
  (void)bundle();
  std::atomic<int> built{0};
  run_together([&](int) {
    for (int round = 0; round < 5; ++round) {
      const auto own = format::BundleReader::open(base::memory_source(m_bytes), {},
                                                  format::TrailingBytes::refuse);
      ASSERT_TRUE(own.has_value()) << own.error().message;
      ProgramCache cache(settings());
      cl_context context = m_driver.add_context({device});
      built += load_once(*own, cache, context, device) == Origin::source ? 1 : 0;
    }
  });
  EXPECT_EQ(built, 1);
}

} // namespace
} // namespace clbin::loader
