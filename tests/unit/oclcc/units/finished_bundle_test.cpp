// The finished bundle in the compile cache: if none of a bundle's inputs has changed, it is not
// compressed again.
#include "compile_cache_case.hpp"
#include "unit/oclcc/worker/worker_programs.hpp"

#include <gmock/gmock.h>

namespace oclcc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FinishedBundleTest : public CompileCacheCase {
protected:
  void SetUp() override {
    CompileCacheCase::SetUp();
    add_input("a", "text");
    add_input("b", "own name");
  }
  std::vector<std::string> bundle_notes() { return verbose_lines("bundle: "); }
  [[nodiscard]] std::string built_without_cache() {
    m_options.cache = CachePolicy::ignore;
    (void)run();
    m_options.cache = CachePolicy::use;
    return contents("out.clbin");
  }
};

TEST_F(FinishedBundleTest, IsTheBundleThatIsWrittenWithoutACache) {
  const std::string built = built_without_cache();
  EXPECT_THAT(bundle_notes(), IsEmpty());
  EXPECT_EQ(contents("out.clbin"), built);
  std::filesystem::remove("out.clbin");
  EXPECT_THAT(bundle_notes(), ElementsAre("bundle: from the compile cache"));
  EXPECT_EQ(contents("out.clbin"), built);
  EXPECT_EQ(finished_bundles().size(), 1U);
}

TEST_F(FinishedBundleTest, IsAnotherWhereWhatItIsMadeOfIs) {
  const std::vector<std::function<void()>> changes{
      [] {},
      [] { write("a.cl", "text\n// more\n"); },
      [this] { m_options.source = SourcePolicy::drop; },
      [this] { m_options.inputs[0].program = "renamed"; },
      [this] {
        m_options.variants = {{"named", {}}};
      },
      [this] { m_options.driver_options = {"-DX=1"}; },
      [this] { m_options.device_patterns = {"Stub B"}; },
      [this] { m_options.inputs.pop_back(); },
  };
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    changes[i]();
    EXPECT_THAT(bundle_notes(), IsEmpty()) << i;
    const std::string bundle = contents("out.clbin");
    EXPECT_THAT(seen, ::testing::Not(::testing::Contains(bundle))) << i;
    EXPECT_EQ(finished_bundles().size(), i + 1);
    EXPECT_THAT(bundle_notes(), ElementsAre("bundle: from the compile cache")) << i;
    EXPECT_EQ(contents("out.clbin"), bundle) << i;
    EXPECT_EQ(built_without_cache(), bundle) << i;
    seen.push_back(bundle);
  }
}

TEST_F(FinishedBundleTest, IsTakenThoughAUnitHadToBeBuiltAgain) {
  (void)run();
  const std::string bundle = contents("out.clbin");
  std::filesystem::remove(entries().front());
  EXPECT_EQ(run().builds.size(), 1U);
  EXPECT_THAT(bundle_notes(), ElementsAre("bundle: from the compile cache"));
  EXPECT_EQ(contents("out.clbin"), bundle);
}

TEST_F(FinishedBundleTest, OfAnEmbeddingIsTheSame) {
  (void)run();
  m_options.output = "out.h";
  EXPECT_THAT(bundle_notes(), ElementsAre("bundle: from the compile cache"));
  const std::string header = contents("out.h");
  m_options.cache = CachePolicy::ignore;
  (void)run();
  EXPECT_EQ(contents("out.h"), header);
}

TEST_F(FinishedBundleTest, IsWrittenAfreshWhereItIsDamaged) {
  (void)run();
  const std::string bundle = contents("out.clbin");
  const auto file = finished_bundles().at(0);
  const std::string whole = contents(file);
  std::string flipped = whole;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 4);
  for (const std::string& damaged : {std::string(), whole.substr(0, whole.size() - 1), flipped}) {
    write(file, damaged);
    EXPECT_THAT(bundle_notes(),
                ElementsAre("bundle: the bundle's cache entry was damaged and has been removed"));
    EXPECT_EQ(contents("out.clbin"), bundle);
    EXPECT_EQ(contents(file), whole);
    EXPECT_THAT(bundle_notes(), ElementsAre("bundle: from the compile cache"));
  }
}

TEST_F(FinishedBundleTest, IsNeitherReadNorKeptWithNoCache) {
  m_options.cache = CachePolicy::ignore;
  EXPECT_THAT(bundle_notes(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(m_cache.folder));
  m_options.cache = CachePolicy::use;
  (void)run();
  m_options.cache = CachePolicy::ignore;
  EXPECT_THAT(bundle_notes(), IsEmpty());
}

TEST_F(FinishedBundleTest, IsNotKeptWhereItWouldTakeMuchOfTheCache) {
  (void)run();
  m_cache.max_bytes = 4 * std::filesystem::file_size("out.clbin") - 1;
  std::filesystem::remove_all(m_cache.folder);
  (void)run();
  EXPECT_THAT(finished_bundles(), IsEmpty());
  ++m_cache.max_bytes;
  (void)run();
  EXPECT_EQ(finished_bundles().size(), 1U);
}

TEST_F(FinishedBundleTest, OfAnotherOclccIsNotTaken) {
  std::filesystem::copy_file(worker_stub(), "stub");
  m_settings.executable = std::filesystem::absolute("stub");
  (void)run();
  EXPECT_THAT(bundle_notes(), ElementsAre("bundle: from the compile cache"));
  std::filesystem::last_write_time("stub", std::filesystem::last_write_time("stub") +
                                               std::chrono::seconds(1));
  EXPECT_THAT(bundle_notes(), IsEmpty());
}

} // namespace
} // namespace oclcc
