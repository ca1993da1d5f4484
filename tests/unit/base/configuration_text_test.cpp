#include "base/text.hpp"

#include <gtest/gtest.h>

namespace clbin::base {
namespace {

TEST(ConfigurationText, HasNumberedLinesWithoutCommentsAndBlanks) {
  const auto lines =
      configuration_lines("\xEF\xBB\xBF# a comment\n\n  one = 1\r\n\t# another\ntwo");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].number, 3U);
  EXPECT_EQ(lines[0].text.value(), "one = 1");
  EXPECT_EQ(lines[1].number, 5U);
  EXPECT_EQ(lines[1].text.value(), "two");
  EXPECT_TRUE(configuration_lines("").empty());
}

TEST(ConfigurationText, HasSettingsWithANameAndAValue) {
  const auto setting = parse_setting("name =  a value = more ");
  ASSERT_TRUE(setting.has_value());
  EXPECT_EQ(setting->name, "name");
  EXPECT_EQ(setting->value, "a value = more");
  EXPECT_EQ(parse_setting("name").error().message, "expected 'NAME = VALUE'");
}

// What an editor can show as the end of a line, and what hides a part of one.
TEST(ConfigurationText, RejectsLinesThatEditorsCanShowAsSeveral) {
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"\r", "control character U+000D"},
      {"\v", "control character U+000B"},
      {"\f", "control character U+000C"},
      {std::string(1, '\0'), "control character U+0000"},
      {"\b", "control character U+0008"},
      {"\x1b", "control character U+001B"},
      {"\x7f", "control character U+007F"},
      {"\xC2\x85", "control character U+0085"},
      {"\xC2\x9B", "control character U+009B"},
      {"\xE2\x80\xA8", "line separator U+2028"},
      {"\xE2\x80\xA9", "line separator U+2029"},
      {"\x85", "byte 0x85, which is not UTF-8"},
      {"\xC0\x8A", "byte 0xC0, which is not UTF-8"},
      {"\xED\xA0\x80", "byte 0xED, which is not UTF-8"}};
  for (const auto& [bytes, name] : kinds) {
    for (const std::string& line :
         {"# one" + bytes + "two = 2", "one = " + bytes + "2", bytes + "one = 2",
          "one = 2" + bytes + " ", "  " + bytes + "  ", "[kernel " + bytes + "k]"}) {
      const std::string text = "# first\n" + line + "\nlast = 3";
      const auto lines = configuration_lines(text);
      ASSERT_EQ(lines.size(), 2U) << name;
      EXPECT_EQ(lines[0].number, 2U);
      ASSERT_FALSE(lines[0].text.has_value()) << name;
      EXPECT_EQ(lines[0].text.error().code, ErrorCode::invalid_argument);
      EXPECT_EQ(lines[0].text.error().message, "the line contains the " + name);
      EXPECT_EQ(lines[1].text.value(), "last = 3");
    }
  }
}

TEST(ConfigurationText, EndsLinesWithALineFeedAndOneCarriageReturn) {
  EXPECT_TRUE(configuration_lines("\r\n#\r\n\n").empty());
  EXPECT_EQ(configuration_lines("a\r\n").at(0).text.value(), "a");
  for (const char* text : {"a\r", "a\r\r\n", "\r", "#\r", "\r\r\n", "\n\r"}) {
    const auto lines = configuration_lines(text);
    ASSERT_EQ(lines.size(), 1U) << text;
    EXPECT_FALSE(lines[0].text.has_value()) << text;
  }
}

TEST(ConfigurationText, KeepsLettersOfAllScriptsAndTabs) {
  const auto lines =
      configuration_lines("#\t\xC3\xBC \xE2\x80\x8D\xF0\x9F\x98\x80\nlog = \xC3\xBC\n");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].text.value(), "log = \xC3\xBC");
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
