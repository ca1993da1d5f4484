// Cuts an entry of the user cache at many lengths, and flips a bit in many bytes. Every load
// returns the right program.
#include "base/file_io.hpp"
#include "loader_fixture.hpp"

#include <filesystem>

namespace clbin::loader {
namespace {

using test::BinaryAnswer;
using test::unknown_identity;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* k_built_again = "BUILT";
constexpr std::size_t k_step = 7; // odd: a step through the bytes reaches every bit of a byte

class UserCacheDamageTest : public test::LoaderTest {
protected:
  UserCacheDamageTest() {
    start_anew();
    add_source();
    // The driver rejects any other binary, and its calls show the attempt.
    m_driver.script_source({CL_SUCCESS, {"a", "b"}, "", k_built_again});
    script(k_built_again, BinaryAnswer::accept);
    m_device = m_driver.add_device(unknown_identity("d"));
    load();
    start_anew();
    for (const auto& item : std::filesystem::directory_iterator(folder() / "programs")) {
      if (item.path().extension() == ".clbin") {
        m_entry = item.path();
      }
    }
    m_whole = base::read_whole_file(m_entry, 1U << 20U).value();
  }

  [[nodiscard]] std::filesystem::path folder() const { return m_outside.path() / "clbin"; }

  // Acts like a new process: the previous process has written all entries.
  void start_anew() {
    m_cache.reset();
    cache::CacheSettings settings;
    settings.use = cache::CacheUse::on;
    settings.why_off.clear();
    settings.folder = folder();
    settings.now = [] { return std::chrono::system_clock::now(); };
    settings.pause = [](std::chrono::milliseconds) { FAIL() << "a load waited"; };
    m_cache = std::make_unique<ProgramCache>(settings);
    m_driver.forget_calls();
  }

  void load() {
    const auto program = load_for({m_device}, FallbackPolicy::if_needed);
    ASSERT_TRUE(program.has_value()) << program.error().message;
    EXPECT_THAT(m_report.warnings, IsEmpty());
  }
  void load_damaged(base::ByteView bytes) {
    ASSERT_TRUE(base::write_output_file(m_entry, bytes).has_value());
    start_anew();
    load();
  }
  [[nodiscard]] base::Bytes entry_after_store() {
    start_anew();
    return base::read_whole_file(m_entry, 1U << 20U).value_or(base::Bytes());
  }

  base::TemporaryFolder m_outside = base::TemporaryFolder::create({}, "clbin-damage-test-").value();
  cl_device_id m_device = nullptr;
  std::filesystem::path m_entry;
  base::Bytes m_whole;
};

TEST_F(UserCacheDamageTest, ServesTheWholeEntry) {
  load_damaged(m_whole);
  EXPECT_EQ(m_report.origin, Origin::user_cache);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary BUILT", "build -DV=1"));
}

TEST_F(UserCacheDamageTest, BuildsAgainAndHealsWhereverItIsCut) {
  for (std::size_t size = 0; size < m_whole.size(); size += k_step) {
    SCOPED_TRACE(size);
    load_damaged(base::ByteView(m_whole).first(size));
    EXPECT_EQ(m_report.origin, Origin::source);
    EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DV=1", "get_binary"));
    ASSERT_EQ(m_cache_misses.size(), 1U);
    EXPECT_THAT(m_cache_misses[0].reason, HasSubstr("removed a damaged entry of the"));
    EXPECT_EQ(entry_after_store(), m_whole);
  }
}

// Damage to the reflection of kernels is harmless, because loads do not read it.
TEST_F(UserCacheDamageTest, HandsNoFlippedBitToTheDriver) {
  std::size_t tolerated = 0;
  for (std::size_t at = 0; at < m_whole.size(); at += k_step) {
    SCOPED_TRACE(at);
    base::Bytes flipped = m_whole;
    flipped[at] ^= std::byte{1} << (at % 8);
    load_damaged(flipped);
    if (m_report.origin == Origin::source) {
      EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DV=1", "get_binary"));
      EXPECT_EQ(entry_after_store(), m_whole);
    } else {
      EXPECT_EQ(m_report.origin, Origin::user_cache);
      EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary BUILT", "build -DV=1"));
      ++tolerated;
    }
  }
  EXPECT_LT(tolerated, m_whole.size() / k_step / 2);
}

} // namespace
} // namespace clbin::loader
