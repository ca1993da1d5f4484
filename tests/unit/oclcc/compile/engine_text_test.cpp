#include "compile/unit_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc::plan {
namespace {

using clbin::base::ErrorCode;

TEST(ShellText, LeavesPlainWordsAndQuotesTheOthers) {
  EXPECT_EQ(shell_text({"-o", "a/b.clbin", "--unit=1"}), " -o a/b.clbin --unit=1");
  EXPECT_EQ(shell_text({"", "a b", "$HOME", "it's", "~", "#", "\t\xff"}),
            " '' 'a b' '$HOME' 'it'\\''s' '~' '#' '\t'\"$(printf '\\377')\"");
}

TEST(EngineText, RefusesLineBreaksByTheWordThatHasThem) {
  for (const std::string word : {"a\nb", "a\rb"}) {
    const auto text = require_lines({"-o", word});
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(text.error().message,
              "only a plan of '--plan=json' can contain a line break, which is in 'a?b'");
  }
}

TEST(NinjaText, EscapesWhatNinjaWouldExpandOrEndANameAt) {
  EXPECT_EQ(ninja_value("a $b: c|d"), "a $$b: c|d");
  EXPECT_EQ(ninja_path("a $b: c|d"), "a$ $$b$:$ c${pipe}d");
}

} // namespace
} // namespace oclcc::plan
