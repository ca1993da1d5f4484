#include "source/directive_scanner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::source {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SourceLines, EndAsClangEndsThem) {
  EXPECT_THAT(source_lines("a\nb\r\nc\rd\n\re"), ElementsAre("a", "b", "c", "d", "", "e"));
  EXPECT_THAT(source_lines("a\n"), ElementsAre("a"));
  EXPECT_THAT(source_lines("\r\r"), ElementsAre("", ""));
  EXPECT_THAT(source_lines(""), IsEmpty());
}

TEST(SourceLines, AreCountedAlike) {
  EXPECT_EQ(count_line_ends("a\nb\r\nc\rd\n\re"), 5U);
  EXPECT_EQ(count_line_ends("a"), 0U);
  EXPECT_EQ(count_line_ends(""), 0U);
}

TEST(SourceLines, AreHiddenByABackslash) {
  EXPECT_EQ(after_hidden_line_end("\\\n", 1), 2U);
  EXPECT_EQ(after_hidden_line_end("\\ \t\r\n\n", 1), 5U);
  EXPECT_EQ(after_hidden_line_end("\\\n\r", 1), 3U);
  EXPECT_EQ(after_hidden_line_end("\\\r\n\r", 1), 3U);
  EXPECT_EQ(after_hidden_line_end("\\\n\n", 1), 2U);
  EXPECT_EQ(after_hidden_line_end("\\ a\n", 1), 1U);
  EXPECT_EQ(after_hidden_line_end("\\", 1), 1U);
}

} // namespace
} // namespace clbin::source
