#include "base/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::base {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TextLines, RemovesBothKindsOfLineEnds) {
  EXPECT_THAT(split_lines("one\ntwo\r\nthree"), ElementsAre("one", "two", "three"));
  EXPECT_THAT(split_lines("a\rb\r\r\n"), ElementsAre("a\rb\r"));
}

TEST(TextLines, StartsNoLineAfterTheLastLineEnd) {
  EXPECT_THAT(split_lines("one\n"), ElementsAre("one"));
  EXPECT_THAT(split_lines(""), IsEmpty());
}

TEST(TextLines, KeepsEmptyLines) {
  EXPECT_THAT(split_lines("\n\r\nx\n\n"), ElementsAre("", "", "x", ""));
}

} // namespace
} // namespace clbin::base
