#include "base/byte_codec.hpp"
#include "base/file_io.hpp"
#include "broken_calls.hpp"
#include "cache/cache_folder.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <limits>

namespace clbin::cache {
namespace {

using base::as_bytes;
using base::as_text;

class LockedFileTest : public ::testing::Test {
protected:
  [[nodiscard]] std::string contents() const {
    std::ifstream file(m_path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& text) const {
    std::ofstream(m_path, std::ios::binary | std::ios::trunc) << text;
  }
  [[nodiscard]] std::optional<LockedFile> lock() const {
    return CacheFolder::open(m_folder.path(), IfMissing::leave).value().try_lock("file").value();
  }

private:
  base::TemporaryFolder m_folder = base::TemporaryFolder::create({}, "locked_file_test").value();
  std::filesystem::path m_path = m_folder.path() / "file";
};

TEST_F(LockedFileTest, ReadsWhatIsNotLargerThanTheLimit) {
  write("12345678");
  const auto file = lock();
  EXPECT_EQ(as_text(file->read(8).value()), "12345678");
  EXPECT_FALSE(file->read(7).has_value());
}

TEST_F(LockedFileTest, ReplacesContentsOfAnyLength) {
  for (const std::size_t before : {0U, 3U, 8U, 300U}) {
    write(std::string(before, 'x'));
    auto file = lock();
    for (const std::string text : {"12345678", "abc", "a longer text", ""}) {
      ASSERT_TRUE(file->write(as_bytes(text)).has_value());
      EXPECT_EQ(contents(), text) << before;
      EXPECT_EQ(as_text(file->read(100).value()), text) << before;
    }
  }
}

TEST_F(LockedFileTest, LeavesNothingOfAWriteThatFailedHalfway) {
  write("abc");
  auto file = lock();
  test::set_free_bytes(6);
  const auto failed = file->write(as_bytes("12345678"));
  test::set_free_bytes(std::numeric_limits<std::size_t>::max());
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().message, "cannot write 'file': No space left on device");
  EXPECT_EQ(contents(), "123456");
  ASSERT_TRUE(file->write(as_bytes("xyzw")).has_value());
  EXPECT_EQ(contents(), "xyzw");
}

TEST_F(LockedFileTest, ReadsWhatIsLeftOfAFileThatSomebodyElseCut) {
  write("12345678");
  const auto file = lock();
  write("12");
  EXPECT_EQ(as_text(file->read(8).value()), "12");
}

} // namespace
} // namespace clbin::cache
