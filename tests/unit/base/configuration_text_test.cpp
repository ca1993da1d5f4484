#include "base/configuration_text.hpp"

#include <gtest/gtest.h>

namespace clbin::base {
namespace {

TEST(ConfigurationText, HasNumberedLinesWithoutCommentsAndBlanks) {
  const auto lines =
      configuration_lines("\xEF\xBB\xBF# a comment\n\n  one = 1\r\n\t# another\ntwo");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].number, 3U);
  EXPECT_EQ(lines[0].text, "one = 1");
  EXPECT_EQ(lines[1].number, 5U);
  EXPECT_EQ(lines[1].text, "two");
  EXPECT_TRUE(configuration_lines("").empty());
}

TEST(ConfigurationText, HasSettingsWithANameAndAValue) {
  const auto setting = parse_setting("name =  a value = more ");
  ASSERT_TRUE(setting.has_value());
  EXPECT_EQ(setting->name, "name");
  EXPECT_EQ(setting->value, "a value = more");
  EXPECT_EQ(parse_setting("name").error().message, "expected 'NAME = VALUE'");
  EXPECT_EQ(parse_setting("name = \x1b[31m").error().message,
            "the line contains a control character");
}

TEST(ConfigurationText, HasSwitches) {
  EXPECT_EQ(parse_switch("1"), true);
  EXPECT_EQ(parse_switch("yes"), true);
  EXPECT_EQ(parse_switch("0"), false);
  EXPECT_EQ(parse_switch("no"), false);
  EXPECT_EQ(parse_switch("on"), std::nullopt);
}

} // namespace
} // namespace clbin::base
