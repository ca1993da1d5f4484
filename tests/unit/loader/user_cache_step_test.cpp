#include "base/file_io.hpp"
#include "loader_fixture.hpp"
#include "matching/vendor_rules.hpp"
#include "support/child_process.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

namespace clbin::loader {
namespace {

using base::ErrorCode;
using test::BinaryAnswer;
using test::installed_target;
using test::nvidia_identity;
using test::offline_target;
using test::ptx_for;
using test::unknown_identity;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* k_built = "BUILT";

class UserCacheStepTest : public test::LoaderTest {
protected:
  UserCacheStepTest() {
    start_anew();
    script(k_built, BinaryAnswer::accept);
  }

  [[nodiscard]] std::filesystem::path folder() const { return m_outside.path() / "clbin"; }

  [[nodiscard]] cache::CacheSettings settings() {
    cache::CacheSettings settings;
    settings.use = cache::CacheUse::on;
    settings.why_off.clear();
    settings.folder = folder();
    settings.now = [] { return std::chrono::system_clock::now(); };
    settings.pause = [this](std::chrono::milliseconds) {
      if (m_on_pause) {
        m_on_pause();
      }
    };
    return settings;
  }

  // Acts like a new process: the previous process has written all entries.
  void start_anew() {
    m_cache.reset();
    m_cache = std::make_unique<ProgramCache>(settings());
    m_driver.forget_calls();
  }

  void add_source_that_gives(const std::string& binary) {
    add_source();
    m_driver.script_source({CL_SUCCESS, {"a", "b"}, "", binary});
  }

  [[nodiscard]] cl_device_id device() {
    m_device = m_device == nullptr ? m_driver.add_device(unknown_identity("d")) : m_device;
    return m_device;
  }

  void expect_load(FallbackPolicy policy = FallbackPolicy::if_needed) {
    const auto program = load_for({device()}, policy);
    ASSERT_TRUE(program.has_value()) << program.error().message;
  }
  void expect_load_with(const std::string& extra_options) {
    LoadRequest request;
    request.devices = {device()};
    request.extra_options = extra_options;
    m_context = m_context == nullptr ? m_driver.add_context({device()}) : m_context;
    const auto program = load(request);
    ASSERT_TRUE(program.has_value()) << program.error().message;
  }

  [[nodiscard]] std::vector<std::filesystem::path> kept() const {
    std::vector<std::filesystem::path> paths;
    for (const auto& item : std::filesystem::directory_iterator(folder() / "programs")) {
      if (item.path().extension() == ".clbin") {
        paths.push_back(item.path());
      }
    }
    return paths;
  }

  // Attempts the entry `payload` in a process that crashes.
  void die_of(const std::string& payload) {
    script(payload, BinaryAnswer::kill_process);
    (void)bundle();
    const auto end = test::run_in_child([&] {
      (void)load_for({device()}, FallbackPolicy::if_needed);
      return 0;
    });
    EXPECT_EQ(end.signal_number, SIGKILL);
    script(payload, BinaryAnswer::accept);
  }

  void expect_load_after_death(const std::string& payload, Origin origin) {
    die_of(payload);
    start_anew();
    expect_load();
    EXPECT_EQ(m_report.origin, origin);
  }

  base::TemporaryFolder m_outside = base::TemporaryFolder::create({}, "clbin-step-test-").value();
  std::function<void()> m_on_pause;
  cl_device_id m_device = nullptr;
};

TEST_F(UserCacheStepTest, KeepsWhatSourceGaveForTheNextStart) {
  add_source_that_gives(k_built);
  expect_load();
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DV=1", "get_binary"));
  ASSERT_EQ(m_cache_misses.size(), 1U);
  EXPECT_EQ(to_string(m_cache_misses[0].rule), "user cache");
  EXPECT_EQ(m_cache_misses[0].reason, "not in the user cache");

  start_anew();
  expect_load();
  EXPECT_EQ(m_report.origin, Origin::user_cache);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary BUILT", "build -DV=1"));
  ASSERT_EQ(m_report.attempts.size(), 1U);
  EXPECT_EQ(m_report.attempts[0].decision, Decision::loaded);
  EXPECT_EQ(m_report.attempts[0].origin, Origin::user_cache);
  EXPECT_EQ(to_string(m_report.attempts[0].rule), "user cache");
  EXPECT_EQ(m_report.attempts[0].target, "Platform of d / d / 1.0");
  EXPECT_THAT(m_report.warnings, IsEmpty());
  EXPECT_THAT(describe(m_report), HasSubstr("loaded from the user cache"));
}

TEST_F(UserCacheStepTest, ReadsNothingOnAnExactHitButTheMarker) {
  add_entry(installed_target(unknown_identity("d")), "ONE");
  add_source_that_gives(k_built);
  script("ONE", BinaryAnswer::accept);
  expect_load();
  EXPECT_EQ(m_report.origin, Origin::entry);
  EXPECT_THAT(m_cache_misses, IsEmpty());
  start_anew();
  EXPECT_FALSE(std::filesystem::exists(folder() / "programs"));
  const std::filesystem::directory_iterator markers(folder() / "attempts");
  EXPECT_EQ(std::distance(begin(markers), end(markers)), 1);
}

TEST_F(UserCacheStepTest, StandsBetweenExactAndCompatibleEntries) {
  m_device = m_driver.add_device(nvidia_identity("sm_90"));
  const std::string built = ptx_for("sm_90") + "// from source\n";
  add_entry(installed_target(nvidia_identity("sm_90")), ptx_for("sm_50"));
  add_entry(offline_target("sm_70"), ptx_for("sm_70"));
  script(ptx_for("sm_50"), BinaryAnswer::refuse);
  script(ptx_for("sm_70"), BinaryAnswer::refuse);
  script(built, BinaryAnswer::accept);
  add_source_that_gives(built);
  expect_load();
  EXPECT_EQ(m_report.origin, Origin::source);
  start_anew();
  expect_load();
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary " + ptx_for("sm_50"),
                                            "create_binary " + built, "build -DV=1"));
  ASSERT_EQ(m_report.attempts.size(), 3U);
  EXPECT_EQ(to_string(m_report.attempts[1].rule), "user cache");
  EXPECT_EQ(m_report.attempts[2].target, "nvptx:sm_70");
  EXPECT_EQ(m_report.attempts[2].reason,
            "matches, but the user cache contains a program built for this device");
}

TEST_F(UserCacheStepTest, RemovesAnEntryThatTheDriverRefuses) {
  add_source_that_gives(k_built);
  expect_load();
  start_anew();
  script(k_built, BinaryAnswer::refuse_at_build, "no");
  expect_load();
  EXPECT_THAT(decisions(), ElementsAre("refused Platform of d / d / 1.0", "loaded source"));
  EXPECT_EQ(m_report.attempts[0].driver_log, "no");
  m_cache.reset();
  ASSERT_EQ(kept().size(), 1U); // the new one
  EXPECT_EQ(cache::KeyedStore(settings(), cache::CacheKind::user).statistics()->counters.healed,
            1U);
}

TEST_F(UserCacheStepTest, BuildsAgainWhereAnEntryIsDamaged) {
  add_source_that_gives(k_built);
  expect_load();
  start_anew();
  ASSERT_EQ(kept().size(), 1U);
  std::ofstream(kept()[0], std::ios::binary | std::ios::trunc) << "CLBIN and no more";
  expect_load();
  EXPECT_EQ(m_report.origin, Origin::source);
  ASSERT_EQ(m_cache_misses.size(), 1U);
  EXPECT_THAT(m_cache_misses[0].reason, StartsWith("removed a damaged entry of the user cache: "));
  EXPECT_THAT(m_report.warnings, IsEmpty());
  start_anew();
  expect_load();
  EXPECT_EQ(m_report.origin, Origin::user_cache);
}

TEST_F(UserCacheStepTest, KeepsVariantsOfRunTimeApart) {
  add_source_that_gives(k_built);
  expect_load_with("-DN=1");
  EXPECT_EQ(m_report.origin, Origin::source);
  start_anew();
  expect_load_with("-DN=2");
  EXPECT_EQ(m_report.origin, Origin::source);
  ASSERT_EQ(m_cache_misses.size(), 1U);
  EXPECT_EQ(
      m_cache_misses[0].reason,
      "not in the user cache; the last stored entry differs in options: '-DV=1 -DN=1' before, "
      "'-DV=1 -DN=2' now");
  start_anew();
  expect_load();
  EXPECT_EQ(m_report.origin, Origin::source);
  start_anew();
  expect_load_with("-DN=1");
  EXPECT_EQ(m_report.origin, Origin::user_cache);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary BUILT", "build -DV=1 -DN=1"));
}

TEST_F(UserCacheStepTest, BuildsAgainForAnotherDriverVersion) {
  add_source_that_gives(k_built);
  expect_load();
  start_anew();
  auto identity = unknown_identity("d");
  identity.driver_version = "1.1";
  m_device = m_driver.add_device(identity);
  m_context = nullptr;
  expect_load();
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_THAT(m_cache_misses[0].reason, HasSubstr("driver version: '1.0' before, '1.1' now"));
}

TEST_F(UserCacheStepTest, LeavesPoclToItsOwnCache) {
  auto identity = unknown_identity("cpu");
  identity.platform_name = "Portable Computing Language";
  m_device = m_driver.add_device(identity);
  add_source_that_gives(k_built);
  expect_load();
  EXPECT_THAT(m_driver.calls(), Not(Contains("get_binary")));
  ASSERT_EQ(m_cache_misses.size(), 1U);
  EXPECT_EQ(m_cache_misses[0].reason, "not used: PoCL caches its own builds");
  EXPECT_FALSE(std::filesystem::exists(folder() / "programs"));
}

TEST_F(UserCacheStepTest, StoresOnPoclWhatTheCallerTakesAndServesItToAll) {
  auto identity = unknown_identity("cpu");
  identity.platform_name = "Portable Computing Language";
  m_device = m_driver.add_device(identity);
  add_source_that_gives("UNSPECIALIZED");
  LoadRequest request;
  request.devices = {m_device};
  request.take_binary = [](cl_program) -> base::Result<base::Bytes> {
    return test::bytes_of(std::string(k_built));
  };
  m_context = m_driver.add_context({m_device});
  ASSERT_TRUE(load(request).has_value());
  EXPECT_EQ(m_report.origin, Origin::source);
  start_anew();
  expect_load(); // without such a function
  EXPECT_EQ(m_report.origin, Origin::user_cache);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary BUILT", StartsWith("build")));
}

TEST_F(UserCacheStepTest, IsLeftAloneByOtherPolicies) {
  add_source_that_gives(k_built);
  expect_load();
  start_anew();
  expect_load(FallbackPolicy::always);
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DV=1"));
  EXPECT_FALSE(load_for({device()}, FallbackPolicy::never).has_value());
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DV=1"));
}

TEST_F(UserCacheStepTest, WarnsOnceWhereTheFolderIsAFile) {
  std::ofstream(folder()) << "in the way\n";
  add_entry(installed_target(unknown_identity("d")), "ONE");
  script("ONE", BinaryAnswer::refuse);
  add_source_that_gives(k_built);
  for (int i = 0; i < 2; ++i) {
    expect_load();
    EXPECT_EQ(m_report.origin, Origin::source);
    ASSERT_EQ(m_report.warnings.size(), 1U);
    EXPECT_THAT(m_report.warnings[0], HasSubstr(folder().string()));
    EXPECT_THAT(m_report.warnings[0], HasSubstr("Not a directory"));
  }
}

TEST_F(UserCacheStepTest, SaysThatTheDriverHandsOutNoBinary) {
  add_source_that_gives("");
  expect_load();
  EXPECT_THAT(
      m_report.warnings,
      ElementsAre(
          "the user cache does not store the program: the driver returned a binary of 0 bytes"));
}

TEST_F(UserCacheStepTest, TakesWhatAnotherProcessBuiltMeanwhile) {
  add_source_that_gives(k_built);
  expect_load();
  m_cache.reset();
  ASSERT_EQ(kept().size(), 1U);
  // Another process builds it. Its entry appears while this process waits.
  const auto entry = kept()[0];
  const auto elsewhere = m_outside.path() / "elsewhere";
  std::filesystem::rename(entry, elsewhere);
  base::Digest key = base::digest_from_hex(entry.stem().string()).value();
  auto other =
      std::make_optional(cache::KeyedStore(settings(), cache::CacheKind::user).claim_build(key));
  ASSERT_EQ(other->turn, cache::Turn::build);
  m_on_pause = [&] {
    std::filesystem::rename(elsewhere, entry);
    other.reset();
    m_on_pause = nullptr;
  };
  start_anew();
  expect_load();
  EXPECT_EQ(m_report.origin, Origin::user_cache);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary BUILT", "build -DV=1"));
  EXPECT_EQ(m_report.attempts.back().reason, "another load has just built it");
}

TEST_F(UserCacheStepTest, BuildsAndKeepsWhereWhatAnotherProcessKeptMeanwhileIsDamaged) {
  add_source_that_gives(k_built);
  expect_load();
  m_cache.reset();
  ASSERT_EQ(kept().size(), 1U);
  const auto entry = kept()[0];
  std::filesystem::remove(entry);
  const auto key = base::digest_from_hex(entry.stem().string()).value();
  const auto other = cache::KeyedStore(settings(), cache::CacheKind::user).claim_build(key);
  ASSERT_EQ(other.turn, cache::Turn::build);
  m_on_pause = [&] { std::ofstream(entry) << "damaged"; };
  start_anew();
  expect_load();
  EXPECT_EQ(m_report.origin, Origin::source) << describe(m_report);
  m_cache.reset();
  ASSERT_EQ(kept().size(), 1U);
  m_on_pause = nullptr;
  start_anew();
  expect_load();
  EXPECT_EQ(m_report.origin, Origin::user_cache) << describe(m_report);
}

TEST_F(UserCacheStepTest, LetsTheNextOneBuildWhereTheBuildFails) {
  add_source();
  m_driver.script_source({CL_BUILD_PROGRAM_FAILURE, {}, "error"});
  EXPECT_FALSE(load_for({device()}, FallbackPolicy::if_needed).has_value());
  bool waited = false;
  m_on_pause = [&] { waited = true; };
  start_anew();
  EXPECT_FALSE(load_for({device()}, FallbackPolicy::if_needed).has_value());
  EXPECT_FALSE(waited);
}

TEST_F(UserCacheStepTest, ServesOneOfSeveralDevices) {
  add_entry(installed_target(unknown_identity("x")), "FOR X");
  script("FOR X", BinaryAnswer::accept);
  add_source_that_gives(k_built);
  cl_device_id x = m_driver.add_device(unknown_identity("x"));
  expect_load(); // for d alone
  start_anew();
  m_context = nullptr;
  ASSERT_TRUE(load_for({x, device()}, FallbackPolicy::if_needed).has_value());
  EXPECT_THAT(m_driver.calls(), Contains("create_binary FOR X+BUILT"));
  EXPECT_THAT(decisions(),
              ElementsAre("accepted Platform of x / x / 1.0", "accepted Platform of d / d / 1.0",
                          "not attempted Platform of x / x / 1.0", "loaded several devices"));
}

class UserCacheForSeveral : public UserCacheStepTest {
protected:
  UserCacheForSeveral() {
    add_source();
    m_driver.script_source({CL_SUCCESS, {"a", "b"}, "", "FOR X", {"FOR Y"}});
    script("FOR X", BinaryAnswer::accept);
    script("FOR Y", BinaryAnswer::accept);
  }

  void expect_load_for(const std::vector<cl_device_id>& devices, const std::string& extra = "") {
    LoadRequest request;
    request.devices = devices;
    request.extra_options = extra;
    m_context = m_context == nullptr ? m_driver.add_context({m_x, m_y}) : m_context;
    const auto program = load(request);
    ASSERT_TRUE(program.has_value()) << program.error().message;
  }

  cl_device_id m_x = m_driver.add_device(unknown_identity("x"));
  cl_device_id m_y = m_driver.add_device(unknown_identity("y"));
};

TEST_F(UserCacheForSeveral, KeepsWhatSourceGaveForEach) {
  expect_load_for({m_x, m_y});
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_THAT(m_driver.calls(),
              ElementsAre("create_source", "build -DV=1", "get_binary", "get_binary"));
  EXPECT_EQ(m_report.attempts.back().reason,
            "device 0 has no binary: no entry matches this device");

  start_anew();
  EXPECT_EQ(kept().size(), 2U);
  expect_load_for({m_x, m_y});
  EXPECT_EQ(m_report.origin, Origin::user_cache);
  EXPECT_THAT(m_driver.calls(),
              ElementsAre("create_binary FOR X", "build -DV=1", "create_binary FOR Y",
                          "build -DV=1", "create_binary FOR X+FOR Y", "build -DV=1"));
  EXPECT_THAT(decisions(),
              ElementsAre("accepted Platform of x / x / 1.0", "accepted Platform of y / y / 1.0",
                          "loaded several devices"));

  start_anew();
  expect_load_for({m_y});
  EXPECT_EQ(m_report.origin, Origin::user_cache);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary FOR Y", "build -DV=1"));
}

TEST_F(UserCacheForSeveral, KeepsVariantsOfRunTimeForEach) {
  expect_load_for({m_x, m_y}, "-DN=2");
  EXPECT_EQ(m_report.origin, Origin::source);
  start_anew();
  expect_load_for({m_x, m_y}, "-DN=2");
  EXPECT_EQ(m_report.origin, Origin::user_cache);
  EXPECT_THAT(m_driver.calls(), Contains("create_binary FOR X+FOR Y"));
  EXPECT_THAT(m_driver.calls(), Contains("build -DV=1 -DN=2").Times(3));
}

TEST_F(UserCacheForSeveral, BuildsForAllAgainWhereOneIsRefused) {
  expect_load_for({m_x, m_y});
  start_anew();
  script("FOR Y", BinaryAnswer::refuse_at_build);
  expect_load_for({m_x, m_y});
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_THAT(decisions(), ElementsAre("accepted Platform of x / x / 1.0",
                                       "refused Platform of y / y / 1.0", "loaded source"));
  script("FOR Y", BinaryAnswer::accept);
  start_anew();
  expect_load_for({m_x, m_y});
  EXPECT_EQ(m_report.origin, Origin::user_cache);
}

TEST_F(UserCacheForSeveral, KeepsForThoseAloneThatTheBundleDoesNotServe) {
  add_entry(installed_target(unknown_identity("x")), "ENTRY");
  script("ENTRY", BinaryAnswer::accept);
  expect_load_for({m_x, m_y});
  EXPECT_EQ(m_report.origin, Origin::source);
  start_anew();
  EXPECT_EQ(kept().size(), 1U);
  expect_load_for({m_x, m_y});
  EXPECT_EQ(m_report.origin, Origin::entry);
  EXPECT_THAT(m_driver.calls(), Contains("create_binary ENTRY+FOR Y"));
}

TEST_F(UserCacheForSeveral, KeepsOneEntryForDevicesThatAreTheSame) {
  const cl_device_id twin = m_driver.add_device(unknown_identity("x"));
  m_context = m_driver.add_context({m_x, twin});
  m_driver.script_source({CL_SUCCESS, {"a", "b"}, "", "FOR X"});
  bool waited = false;
  m_on_pause = [&] { waited = true; };
  expect_load_for({m_x, twin});
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_FALSE(waited);
  EXPECT_THAT(m_report.warnings, IsEmpty());
  start_anew();
  EXPECT_EQ(kept().size(), 1U);
  expect_load_for({m_x, twin});
  EXPECT_EQ(m_report.origin, Origin::user_cache);
  EXPECT_THAT(m_driver.calls(), Contains("create_binary FOR X+FOR X"));
}

// Two loads for the same devices in another order would wait for each other.
TEST_F(UserCacheForSeveral, WaitsForNobodyOnceItsTurnHasCome) {
  expect_load_for({m_y});
  m_cache.reset();
  ASSERT_EQ(kept().size(), 1U);
  const base::Digest of_y = base::digest_from_hex(kept()[0].stem().string()).value();
  std::filesystem::remove(kept()[0]);
  const auto other = cache::KeyedStore(settings(), cache::CacheKind::user).claim_build(of_y);
  ASSERT_EQ(other.turn, cache::Turn::build);
  bool waited = false;
  m_on_pause = [&] { waited = true; };
  start_anew();
  expect_load_for({m_x, m_y});
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_FALSE(waited);
  EXPECT_THAT(m_report.warnings, IsEmpty());
  m_cache.reset();
  ASSERT_EQ(kept().size(), 1U);
  EXPECT_NE(kept()[0].stem().string(), base::to_hex(of_y)); // the other one keeps its own entry
}

TEST_F(UserCacheForSeveral, KeepsWhatSourceGaveForOneDeviceOfALargerContext) {
  expect_load_for({m_y});
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_THAT(m_report.warnings, IsEmpty());
  start_anew();
  expect_load_for({m_y});
  EXPECT_EQ(m_report.origin, Origin::user_cache);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary FOR Y", "build -DV=1"));
}

TEST_F(UserCacheForSeveral, KeepsNothingWhereTheDriverRefusesBinariesTogether) {
  add_entry(installed_target(unknown_identity("x")), "ENTRY X");
  add_entry(installed_target(unknown_identity("y")), "ENTRY Y");
  script("ENTRY X", BinaryAnswer::accept);
  script("ENTRY Y", BinaryAnswer::accept);
  m_driver.script_together(test::TogetherAnswer::refuse_at_create);
  expect_load_for({m_x, m_y});
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_THAT(m_driver.calls(), Not(Contains("get_binary")));
  m_cache.reset();
  EXPECT_FALSE(std::filesystem::exists(folder() / "programs"));
}

TEST_F(UserCacheStepTest, TriesAnEntryNoMoreThatEndedTheProcessTwice) {
  add_entry(installed_target(unknown_identity("d")), "ONE");
  add_source_that_gives(k_built);
  die_of("ONE");
  expect_load();
  EXPECT_EQ(m_report.origin, Origin::entry); // one crash causes no quarantine
  die_of("ONE");
  start_anew();
  expect_load();
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_THAT(m_driver.calls(), Not(Contains("create_binary ONE")));
  EXPECT_THAT(decisions(), ElementsAre("not attempted Platform of d / d / 1.0", "loaded source"));
  EXPECT_THAT(m_report.attempts[0].reason,
              StartsWith("in quarantine: it ended the process twice within 24 hours; "));
  EXPECT_EQ(m_report.attempts[1].reason, "the matching entries are in quarantine");
}

// Tencent/TNN, issue 878: a wrong binary crashes Mali's driver.
TEST_F(UserCacheStepTest, TriesABinaryForASeriesNoMoreThatEndedTheProcessTwice) {
  const format::DeviceIdentity mali = test::mali_identity();
  m_device = m_driver.add_device(mali);
  add_entry(installed_target(
                matching::short_identity("Mali-G6xx", mali.device_version, 8 * sizeof(void*))),
            "ONE");
  add_source_that_gives(k_built);
  expect_load_after_death("ONE", Origin::entry);
  expect_load_after_death("ONE", Origin::source);
  EXPECT_THAT(m_report.attempts[0].reason,
              StartsWith("in quarantine: it ended the process twice within 24 hours; "));
  start_anew(); // unlike an entry for the GPU itself, it is not what the driver builds
  expect_load();
  EXPECT_EQ(m_report.origin, Origin::user_cache);
}

TEST_F(UserCacheStepTest, CreatesMalisKernelsBeforeItTakesTheBinary) {
  m_device = m_driver.add_device(test::mali_identity());
  add_source_that_gives(k_built);
  expect_load();
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DV=1", "create_kernel a",
                                            "create_kernel b", "get_binary"));
  start_anew();
  expect_load();
  EXPECT_EQ(m_report.origin, Origin::user_cache);
  EXPECT_EQ(m_driver.live_kernels(), 0);
}

TEST_F(UserCacheStepTest, FailsWithTheReasonWhereQuarantineLeavesNothing) {
  add_entry(installed_target(unknown_identity("d")), "ONE");
  die_of("ONE");
  die_of("ONE");
  const auto program = load_for({device()}, FallbackPolicy::if_needed);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().code, ErrorCode::binary_refused);
  EXPECT_THAT(program.error().message,
              StartsWith("1 of the bundle's entries for program 'p', variant 'default', for "
                         "'Platform of d / d / 1.0': in quarantine: it ended the process twice"));
  EXPECT_THAT(program.error().message, HasSubstr(", and the bundle does not contain its source"));
}

TEST_F(UserCacheStepTest, KeepsNothingAgainThatIsInQuarantine) {
  add_source_that_gives(k_built);
  expect_load();
  start_anew();
  die_of(k_built);
  die_of(k_built);
  start_anew();
  expect_load();
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DV=1"));
}

} // namespace
} // namespace clbin::loader
