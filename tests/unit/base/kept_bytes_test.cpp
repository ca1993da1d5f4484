#include "base/file_io.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::base {
namespace {

std::string text_of(const KeptBytes& kept) {
  const auto region = kept.read();
  return region ? std::string(as_text(region->view())) : region.error().message;
}

Bytes bytes_of(std::string_view text) {
  const ByteView view = as_bytes(text);
  return {view.begin(), view.end()};
}

TEST(KeptBytes, AreThoseGivenInMemory) {
  const KeptBytes kept = bytes_of("text");
  EXPECT_EQ(text_of(kept), "text");
  EXPECT_EQ(kept.size_bytes(), 4U);
  EXPECT_FALSE(kept.empty());
}

TEST(KeptBytes, AreEmptyUnlessGiven) {
  EXPECT_TRUE(KeptBytes().empty());
  EXPECT_EQ(text_of(KeptBytes()), "");
  EXPECT_TRUE(KeptBytes(Bytes()).empty());
}

TEST(KeptBytes, StayBorrowedWhereTheyWereBorrowed) {
  const Bytes bytes = bytes_of("text");
  const KeptBytes kept = ByteRegion::borrow(bytes);
  EXPECT_EQ(kept.read()->view().data(), bytes.data());
}

TEST(KeptBytes, ComeBackFromAFileWithoutAName) {
  const auto folder = TemporaryFolder::create({}, "clbin-test-");
  ASSERT_TRUE(folder);
  auto file = SpillFile::create(folder->path());
  ASSERT_TRUE(file) << file.error().message;
  const auto first = KeptBytes::spill(*file, bytes_of("first"));
  const auto none = KeptBytes::spill(*file, {});
  const auto second = KeptBytes::spill(*file, bytes_of("second"));
  ASSERT_TRUE(first && none && second);
  file->reset(); // each owns a reference to it
  EXPECT_TRUE(std::filesystem::is_empty(folder->path()));
  EXPECT_EQ(text_of(*second), "second");
  EXPECT_EQ(text_of(*first), "first");
  EXPECT_EQ(text_of(*none), "");
  EXPECT_TRUE(none->empty());
  const KeptBytes copy = *first;
  EXPECT_EQ(text_of(copy), "first");
}

TEST(SpillFile, NamesTheFolderThatCannotHoldIt) {
  const auto file = SpillFile::create("/nowhere/at/all");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::file_write);
  EXPECT_EQ(file.error().message,
            "cannot create a temporary file in '/nowhere/at/all': No such file or directory");
}

} // namespace
} // namespace clbin::base
