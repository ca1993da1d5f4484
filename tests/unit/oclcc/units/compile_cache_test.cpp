#include "compile_cache_case.hpp"

#include "unit/oclcc/worker/worker_programs.hpp"
#include "units/compile_cache.hpp"

#include <algorithm>
#include <atomic>
#include <gmock/gmock.h>
#include <sys/stat.h>

namespace oclcc {
namespace {

using clbin::cache::CacheKind;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class CompileCacheTest : public CompileCacheCase {};

// --- hits ---------------------------------------------------------------------------------------

TEST_F(CompileCacheTest, BuildsNothingAndStartsNoCompilerWhereItKnowsAll) {
  add_input("a", "own name");
  add_input("b", "text");
  const CacheOutcome first = run();
  EXPECT_EQ(first.code, ExitCode::success);
  EXPECT_EQ(first.builds.size(), 6U);
  const std::string bundle = contents("out.clbin");
  std::filesystem::remove("out.clbin");

  const CacheOutcome second = run();
  EXPECT_EQ(second.code, ExitCode::success);
  EXPECT_THAT(second.builds, IsEmpty());
  EXPECT_EQ(second.workers, 1U); // the worker that lists the devices
  EXPECT_EQ(second.messages, "");
  EXPECT_EQ(contents("out.clbin"), bundle);
}

TEST_F(CompileCacheTest, GivesTheSameBytesAsABuildWithAnyNumberOfJobs) {
  for (const char* name : {"a", "b", "c"}) {
    add_input(name, std::string("own name\n// ") + name);
  }
  m_options.cache = CachePolicy::ignore;
  (void)run();
  const std::string built = contents("out.clbin");
  m_options.cache = CachePolicy::use;
  m_options.inputs.pop_back();
  (void)run(); // a and b are cached now
  m_options.inputs.push_back({"c.cl", "c"});
  for (const unsigned jobs : {1U, 2U, 8U}) {
    m_options.jobs = jobs;
    EXPECT_EQ(run().builds.size(), jobs == 1 ? 3U : 0U);
    EXPECT_EQ(contents("out.clbin"), built) << jobs;
  }
}

TEST_F(CompileCacheTest, TellsWarningsAgain) {
  add_input("a", "warn");
  const CacheOutcome first = run();
  EXPECT_THAT(first.messages, HasSubstr("a.cl:1:1: warning: questionable\n"));
  const CacheOutcome second = run();
  EXPECT_THAT(second.builds, IsEmpty());
  EXPECT_EQ(second.messages, first.messages);
}

// The log contains the names that the compiler used. A hit translates them to the names of this
// run.
TEST_F(CompileCacheTest, TellsWarningsWithTheNameThatTheFileHasNow) {
  add_input("a", "warn");
  (void)run();
  std::filesystem::create_directory("sub");
  std::filesystem::rename("a.cl", "sub/b.cl");
  m_options.inputs = {{"sub/b.cl", "b"}};
  const CacheOutcome outcome = run();
  EXPECT_THAT(outcome.builds, IsEmpty());
  EXPECT_THAT(outcome.messages, HasSubstr("sub/b.cl:1:1: warning: questionable\n"));
}

TEST_F(CompileCacheTest, HeedsWerrorOnHits) {
  add_input("a", "warn"); // the stub ignores -Werror, as Oclgrind does
  m_options.driver_options = {"-Werror"};
  const CacheOutcome first = run();
  EXPECT_EQ(first.code, ExitCode::compile_failed);
  const CacheOutcome second = run();
  EXPECT_EQ(second.code, ExitCode::compile_failed);
  EXPECT_THAT(second.builds, IsEmpty());
  EXPECT_EQ(second.messages, first.messages);
  EXPECT_THAT(second.messages, HasSubstr("a.cl:1:1: error: questionable [-Werror]\n"));
  EXPECT_FALSE(std::filesystem::exists("out.clbin"));
}

TEST_F(CompileCacheTest, SharesAnEntryBetweenNamesOfOneProgram) {
  add_input("a", "text");
  (void)run();
  m_options.inputs = {};
  add_input("b", "text");
  m_options.variants = {{"plain", {}}};
  EXPECT_THAT(run().builds, IsEmpty());
}

TEST_F(CompileCacheTest, KnowsADeviceAtAnotherPlace) {
  add_input("a", "own name");
  (void)run();
  const std::string bundle = contents("out.clbin");
  m_settings.arguments = {"other-order"};
  EXPECT_THAT(run().builds, IsEmpty());
  EXPECT_EQ(contents("out.clbin"), bundle);
  m_options.device_patterns = {"Stub B"};
  EXPECT_THAT(run().builds, IsEmpty());
}

TEST_F(CompileCacheTest, WritesARawBinaryOfAHit) {
  add_input("a", "text");
  m_options.device_patterns = {"Stub A"};
  m_options.output = "a.bin";
  (void)run();
  const std::string binary = contents("a.bin");
  std::filesystem::remove("a.bin");
  EXPECT_THAT(run().builds, IsEmpty());
  EXPECT_EQ(contents("a.bin"), binary);
  EXPECT_THAT(binary, StartsWith("binary of text"));
}

TEST_F(CompileCacheTest, BuildsOnlyWhatItDoesNotKnow) {
  add_input("a", "text");
  (void)run();
  add_input("b", "own name");
  EXPECT_THAT(run().builds, ElementsAre("own name", "own name", "own name"));
}

// --- what is not cached -------------------------------------------------------------------------

TEST_F(CompileCacheTest, KeepsNoFailure) {
  add_input("complain", "complain");
  add_input("crash", "crash");
  add_input("error", "error");
  add_input("good", "text");
  m_options.failure = FailurePolicy::keep_going;
  const CacheOutcome first = run();
  EXPECT_EQ(first.code, ExitCode::compile_failed);
  EXPECT_EQ(entries().size(), 3U); // entries of the good program
  const CacheOutcome second = run();
  EXPECT_EQ(second.code, ExitCode::compile_failed);
  EXPECT_EQ(second.builds.size(), 9U);
  EXPECT_EQ(second.messages, first.messages);
}

TEST_F(CompileCacheTest, KeepsNoUnitThatWasGivenUp) {
  add_input("a", "hang on Stub C");
  m_options.timeout_seconds = 3;
  EXPECT_EQ(run().code, ExitCode::compile_failed);
  EXPECT_EQ(entries().size(), 2U);
  const CacheOutcome second = run();
  EXPECT_EQ(second.code, ExitCode::compile_failed);
  EXPECT_THAT(second.messages, HasSubstr("'Stub C' did not finish within 3 s"));
  EXPECT_THAT(second.builds, ElementsAre("hang"));
}

TEST_F(CompileCacheTest, IsLeftAloneWithNoCache) {
  add_input("a", "text");
  m_options.cache = CachePolicy::ignore;
  (void)run();
  EXPECT_FALSE(std::filesystem::exists(m_cache.folder));
  m_options.cache = CachePolicy::use;
  (void)run();
  const auto before = contents(m_cache.folder / "compilations" / "counters");
  m_options.cache = CachePolicy::ignore;
  EXPECT_EQ(run().builds.size(), 3U);
  EXPECT_EQ(contents(m_cache.folder / "compilations" / "counters"), before);
}

TEST_F(CompileCacheTest, KeepsNothingWhereNothingMayBeKept) {
  add_input("a", "text");
  m_cache.max_bytes = 0;
  (void)run();
  const CacheOutcome second = run();
  EXPECT_EQ(second.builds.size(), 3U);
  EXPECT_EQ(second.messages, "");
}

// --- messages of -v -----------------------------------------------------------------------------

TEST_F(CompileCacheTest, SaysHitOrMissAndWhy) {
  add_input("a", "#include \"tile.h\"");
  write("tile.h", "one\n");
  m_options.device_patterns = {"Stub A"};
  EXPECT_THAT(notes_of_run(),
              ElementsAre("Stub A · a.cl: compile cache: miss: never built, or no longer stored"));
  EXPECT_THAT(notes_of_run(), ElementsAre("Stub A · a.cl: compile cache: hit"));
  write("tile.h", "two\n");
  EXPECT_THAT(notes_of_run(),
              ElementsAre("Stub A · a.cl: compile cache: miss: header 'tile.h' changed"));
  m_options.driver_options = {"-DX=1", "-DY=2"};
  EXPECT_THAT(notes_of_run(), ElementsAre("Stub A · a.cl: compile cache: miss: options changed "
                                          "from '' to '-DX=1 -DY=2'"));
  m_options.driver_options = {"-DY=2", "-DX=1"};
  EXPECT_THAT(notes_of_run(), ElementsAre("Stub A · a.cl: compile cache: miss: options changed "
                                          "from '-DX=1 -DY=2' to '-DY=2 -DX=1'"));
  m_settings.arguments = {"updated-driver"};
  EXPECT_THAT(notes_of_run(), ElementsAre("Stub A · a.cl: compile cache: miss: driver version "
                                          "changed from '1' to '2'"));
  m_options.device_patterns = {"Stub B"};
  EXPECT_THAT(notes_of_run(),
              ElementsAre("Stub B · a.cl: compile cache: miss: never built, or no longer stored"));
}

TEST_F(CompileCacheTest, ComparesAMissWithTheLastHit) {
  add_input("a", "text");
  m_options.device_patterns = {"Stub A"};
  m_options.driver_options = {"-DX=1"};
  (void)run();
  m_options.driver_options = {"-DX=2"};
  (void)run();
  m_options.driver_options = {"-DX=1"};
  EXPECT_THAT(run().builds, IsEmpty());
  m_options.driver_options = {"-DX=3"};
  EXPECT_THAT(notes_of_run(), ElementsAre("Stub A · a.cl: compile cache: miss: options changed "
                                          "from '-DX=1' to '-DX=3'"));
}

TEST_F(CompileCacheTest, SaysThatOclccItselfIsAnother) {
  add_input("a", "text");
  std::filesystem::copy_file(worker_stub(), "stub");
  m_settings.executable = std::filesystem::absolute("stub");
  m_options.device_patterns = {"Stub A"};
  (void)run();
  EXPECT_THAT(run().builds, IsEmpty());
  std::filesystem::last_write_time("stub", std::filesystem::last_write_time("stub") +
                                               std::chrono::seconds(1));
  EXPECT_THAT(notes_of_run(),
              ElementsAre("Stub A · a.cl: compile cache: miss: oclcc executable changed"));
}

TEST_F(CompileCacheTest, SaysWhyItIsOff) {
  add_input("a", "text");
  m_options.cache = CachePolicy::ignore;
  EXPECT_THAT(notes_of_run(), ElementsAre("compile cache: off: --no-cache was given"));
  m_options.cache = CachePolicy::use;
  m_cache = {};
  m_cache.why_off = "CLBIN_CACHE is 0";
  EXPECT_THAT(notes_of_run(), ElementsAre("compile cache: off: CLBIN_CACHE is 0"));
}

// --- damage -------------------------------------------------------------------------------------

TEST_F(CompileCacheTest, BuildsAgainWhatIsDamaged) {
  add_input("a", "text");
  m_options.device_patterns = {"Stub A"};
  (void)run();
  const std::string bundle = contents("out.clbin");
  ASSERT_EQ(entries().size(), 1U);
  const auto entry = entries().front();
  const std::string whole = contents(entry);
  for (const std::size_t size : {std::size_t{0}, whole.size() / 2, whole.size() - 1}) {
    write(entry, whole.substr(0, size));
    EXPECT_THAT(notes_of_run(),
                ElementsAre(AllOf(StartsWith("Stub A · a.cl: compile cache: miss: removed a "
                                             "damaged entry of the compile cache: "),
                                  HasSubstr(entry.string()))));
    EXPECT_EQ(contents("out.clbin"), bundle) << size;
    EXPECT_EQ(contents(entry), whole);
  }
}

// A digest covers every byte of an entry: no flipped bit reaches a bundle.
TEST_F(CompileCacheTest, LetsNoFlippedBitIntoTheBundle) {
  add_input("a", "warn");
  m_options.device_patterns = {"Stub A"};
  (void)run();
  const std::string bundle = contents("out.clbin");
  const auto entry = entries().at(0);
  const std::string whole = contents(entry);
  CompileCache cache(m_cache, {});
  for (std::size_t at = 0; at < whole.size(); at += 97) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    write(entry, flipped);
    const CacheOutcome outcome = run();
    EXPECT_EQ(outcome.code, ExitCode::success) << at;
    EXPECT_EQ(contents("out.clbin"), bundle) << at;
  }
}

TEST_F(CompileCacheTest, WarnsOnceWhereItCannotBeUsedAndWorksOn) {
  add_input("a", "text");
  add_input("b", "own name");
  std::filesystem::create_directory(m_cache.folder);
  ASSERT_EQ(::chmod(m_cache.folder.c_str(), 0777), 0);
  for (int i = 0; i < 2; ++i) {
    const CacheOutcome outcome = run();
    EXPECT_EQ(outcome.code, ExitCode::success);
    EXPECT_EQ(outcome.builds.size(), 6U);
    EXPECT_EQ(outcome.messages, "oclcc: warning: the cache directory '" + m_cache.folder.string() +
                                    "' is not used: other users may write to it (mode 0777)\n");
  }
  m_options.verbosity = Verbosity::quiet;
  EXPECT_EQ(run().messages, "");
}

TEST_F(CompileCacheTest, WarnsWhereAFileIsInThePlaceOfItsFolder) {
  add_input("a", "text");
  write(m_cache.folder, "a file");
  const CacheOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_THAT(outcome.messages,
              AllOf(StartsWith("oclcc: warning: "), HasSubstr("Not a directory")));
}

// --- several at once ----------------------------------------------------------------------------

CacheUnit sample_unit() {
  CacheUnit unit;
  unit.recipe = {"a.cl / default / Stub", {{"source", "text"}}};
  unit.key = clbin::cache::recipe_key(unit.recipe);
  unit.program = "a";
  unit.target.identity.device_name = "Stub";
  return unit;
}

UnitResult sample_result() {
  UnitResult result;
  result.reply.emplace();
  result.reply->binary = clbin::base::Bytes(100, std::byte{7});
  result.reply->log = "a warning";
  result.reply->kernels.emplace_back().name = "k";
  return result;
}

TEST_F(CompileCacheTest, BuildsOnceForManyAtOnce) {
  constexpr int k_threads = 8;
  std::atomic<int> builds{0};
  std::vector<UnitResult> results(k_threads);
  {
    std::vector<std::jthread> threads;
    for (UnitResult& result : results) {
      threads.emplace_back([&] {
        CompileCache cache(m_cache, {}); // like the cache of another process
        std::string note;
        result = cache.build(
            sample_unit(),
            [&] {
              ++builds;
              std::this_thread::sleep_for(std::chrono::milliseconds(50));
              return sample_result();
            },
            note);
      });
    }
  }
  EXPECT_EQ(builds, 1);
  for (const UnitResult& result : results) {
    ASSERT_TRUE(is_built(result));
    EXPECT_EQ(result.reply->binary, sample_result().reply->binary);
    EXPECT_EQ(result.reply->log, "a warning");
    EXPECT_EQ(result.reply->kernels, sample_result().reply->kernels);
  }
}

TEST_F(CompileCacheTest, BuildsForItselfWhereTheOtherOneFails) {
  std::atomic<int> builds{0};
  const auto fail = [&] {
    ++builds;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    UnitResult failed;
    failed.failure = "the compiler of 'Stub' crashed (signal 11)";
    return failed;
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        CompileCache cache(m_cache, {});
        std::string note;
        EXPECT_FALSE(is_built(cache.build(sample_unit(), fail, note)));
        EXPECT_EQ(cache.take_warning(), "");
      });
    }
  }
  EXPECT_EQ(builds, 3);
}

TEST_F(CompileCacheTest, BuildsAllTheSameWhenTheOtherOneTakesTooLong) {
  m_cache.wait_limit = std::chrono::milliseconds(5);
  const clbin::cache::KeyedStore other(m_cache, CacheKind::compile);
  const auto claim = other.claim_build(sample_unit().key);
  CompileCache cache(m_cache, {});
  std::string note;
  EXPECT_TRUE(is_built(cache.build(sample_unit(), sample_result, note)));
  EXPECT_THAT(cache.take_warning(),
              HasSubstr("another process that has been building the same for 5 ms"));
  EXPECT_EQ(cache.take_warning(), "");
}

} // namespace
} // namespace oclcc
