#include "base/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

// Checks that unescaping restores the text, and that `escaped` has the form that clbin(5)
// specifies.
void expect_escaped(std::string_view text, std::string_view escaped) {
  EXPECT_EQ(base::escape_text(text), escaped);
  EXPECT_EQ(base::unescape_text(escaped).value(), text);
}

TEST(TextEscape, LeavesUtf8AsItIs) {
  for (const std::string_view text :
       {"", "abc\n\t\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "Gr\xc3\xb6\xc3\x9f\x65"}) {
    expect_escaped(text, text);
  }
  expect_escaped(std::string_view("a\0b", 3), std::string_view("a\0b", 3));
}

TEST(TextEscape, EscapesBytesThatAreNoUtf8) {
  expect_escaped("a\xe9z", "a\x10"
                           "e9z");
  expect_escaped("\x80", "\x10"
                         "80");
  expect_escaped("\xff\xfe", "\x10"
                             "ff\x10"
                             "fe");
}

TEST(TextEscape, EscapesItsOwnEscape) {
  expect_escaped("a\x10"
                 "e9",
                 "a\x10"
                 "10e9");
}

TEST(TextEscape, EscapesOverlongFormsSurrogatesAndWhatIsTooLarge) {
  const auto all_escaped = [](std::string_view text) {
    std::string escaped;
    for (const char value : text) {
      escaped += fmt::format("\x10{:02x}", static_cast<unsigned char>(value));
    }
    return escaped;
  };
  for (const std::string_view text : {"\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"}) {
    expect_escaped(text, all_escaped(text));
  }
}

TEST(TextEscape, EscapesACharacterCutAtTheEnd) {
  expect_escaped("\xf0\x90\x80", "\x10"
                                 "f0\x10"
                                 "90\x10"
                                 "80");
  expect_escaped("\xc3", "\x10"
                         "c3");
}

TEST(TextEscape, RoundTripsEveryPairOfBytes) {
  for (unsigned pair = 0; pair < 65536; ++pair) {
    const std::string text{static_cast<char>(pair >> 8U), static_cast<char>(pair & 0xffU)};
    ASSERT_EQ(base::unescape_text(base::escape_text(text)).value_or("refused"), text) << pair;
  }
}

TEST(TextEscape, RefusesWhatItNeverWrites) {
  for (const std::string_view escaped : {"\x10",
                                         "\x10"
                                         "8",
                                         "\x10"
                                         "8g",
                                         "\x10"
                                         "FF"}) {
    const auto result = base::unescape_text(escaped);
    ASSERT_FALSE(result.has_value()) << escaped;
    EXPECT_EQ(result.error().code, base::ErrorCode::manifest_invalid);
    EXPECT_EQ(result.error().message, "U+0010 is not followed by two hexadecimal digits");
  }
  for (const std::string_view escaped : {"\x10"
                                         "41",
                                         "\x10"
                                         "c3\x10"
                                         "a9",
                                         "\xff"}) {
    const auto result = base::unescape_text(escaped);
    ASSERT_FALSE(result.has_value()) << escaped;
    EXPECT_EQ(result.error().message,
              "a character is escaped unnecessarily, or is not valid UTF-8");
  }
}

} // namespace
} // namespace clbin::format
