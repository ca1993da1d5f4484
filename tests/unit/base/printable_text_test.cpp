#include "base/text.hpp"

#include <gtest/gtest.h>
#include <string>

namespace clbin::base {
namespace {

TEST(PrintableText, IsEmptyForNoText) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable_lines(""), "");
  EXPECT_EQ(printable_json(""), "");
}

TEST(PrintableText, LeavesEveryPrintableCharacterOfAsciiAsItIs) {
  std::string ascii;
  for (char c = ' '; c <= '~'; ++c) {
    ascii += c;
  }
  EXPECT_EQ(printable(ascii), ascii);
  EXPECT_EQ(printable_lines(ascii), ascii);
  EXPECT_EQ(printable_json(ascii), ascii);
}

TEST(PrintableText, ReplacesEveryControlCharacterOfAscii) {
  for (unsigned value = 0; value < 0x80; ++value) {
    const char c = static_cast<char>(value);
    if (c >= ' ' && c <= '~') {
      continue;
    }
    const std::string text(1, c);
    EXPECT_EQ(printable(text), c == '\t' ? text : "?") << value;
    EXPECT_EQ(printable_lines(text), c == '\t' || c == '\n' ? text : "?") << value;
  }
}

// The characters at the edges of the runs that are copied at once.
TEST(PrintableText, ReplacesHiddenCharactersBeforeBetweenAndAfterAscii) {
  EXPECT_EQ(printable("\u200bab"), "?ab");
  EXPECT_EQ(printable("ab\u200bcd"), "ab?cd");
  EXPECT_EQ(printable("ab\u200b"), "ab?");
  EXPECT_EQ(printable("\x1b"
                      "ab\x7f"),
            "?ab?");
  EXPECT_EQ(printable("\u202e\u202eab\u2066\u2069cd\u00ad\u00ad"), "??ab??cd??");
  EXPECT_EQ(printable(" \u0080~\u009f "), " ?~? ");
}

TEST(PrintableText, KeepsShownCharactersBeforeBetweenAndAfterAscii) {
  for (const char* text : {"\u00e9ab", "ab\u00e9", "a\u00e9b", "\u4e2d\u6587", "\U0001f600a\t"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable_lines(text), text);
    EXPECT_EQ(printable_json(text), text);
  }
}

TEST(PrintableText, KeepsLineEndsOnlyInLines) {
  EXPECT_EQ(printable("\nab\ncd\n"), "?ab?cd?");
  EXPECT_EQ(printable_lines("\nab\u200b\n\ncd\r\n"), "\nab?\n\ncd?\n");
}

TEST(PrintableText, EscapesHiddenCharactersOfJson) {
  EXPECT_EQ(printable_json("\"\u200bab\x7f\""), R"("\u200bab\u007f")");
  EXPECT_EQ(printable_json("ab\U000e0041"), R"(ab\udb40\udc41)");
}

TEST(PrintableText, ReplacesControlCharactersButKeepsText) {
  EXPECT_EQ(printable("a\u0085\u009bb\u00e9"), "a??b\u00e9");
  EXPECT_EQ(printable("\x1b\x7f\r\n\tb"), std::string(4, '?') + "\tb");
  EXPECT_EQ(printable_lines("\r\n\tb"), "?\n\tb");
}

TEST(PrintableText, ReplacesEveryByteThatIsNotUtf8) {
  EXPECT_EQ(printable("a\x9b"
                      "31m"),
            "a?31m");
  EXPECT_EQ(printable("\xe0\x82\x9b"), std::string(3, '?'));     // an overlong U+009B
  EXPECT_EQ(printable("\xed\xa0\x80"), std::string(3, '?'));     // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), std::string(4, '?')); // beyond U+10FFFF
  EXPECT_EQ(printable("ab\xe2\x80"), "ab??");                    // cut short
  EXPECT_EQ(printable_json("ab\xe2\x80"), "ab??");
  EXPECT_EQ(printable("\x80"
                      "ab\xff"),
            "?ab?");
}

TEST(PrintableText, ReplacesWhatCannotBeSeenOrTurnsTheLine) {
  for (const char* hidden :
       {"\u00ad", "\u034f", "\u061c",     "\u115f",    "\u180e", "\u200b", "\u200d",
        "\u200e", "\u200f", "\u2028",     "\u2029",    "\u202a", "\u202e", "\u2060",
        "\u2066", "\u2067", "\u2068",     "\u2069",    "\u206f", "\u3164", "\ufe0f",
        "\ufeff", "\ufff9", "\U000e0041", "\U000e01ef"}) {
    EXPECT_EQ(printable(std::string("a") + hidden + "b"), "a?b") << hidden;
  }
}

TEST(PrintableText, KeepsLettersOfEveryScript) {
  const std::string text =
      "\u00db e\u0301 \u0416 \u05d0 \u0627 \u0915\u094d \u6f22 \ud55c \U0001f600";
  EXPECT_EQ(printable(text), text);
}

TEST(PrintableText, EscapesInJsonWhatItReplacesElsewhere) {
  EXPECT_EQ(printable_json("[\n\t\"\u202e\u009b\x7f\U000e0041\u00e9\"\n]"),
            "[\n\t\"\\u202e\\u009b\\u007f\\udb40\\udc41\u00e9\"\n]");
}

} // namespace
} // namespace clbin::base
