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

TEST(RealNumber, IsReadAsADecimalNumber) {
  EXPECT_EQ(parse_real("-1.5e-3"), -1.5e-3);
  EXPECT_EQ(parse_real("7"), 7.0);
  EXPECT_EQ(parse_real(".5"), 0.5);
}

TEST(RealNumber, IsNothingElse) {
  for (const char* const text : {"", " 1", "1 ", "1,5", "0x1p3", "nan", "inf", "1e999", "1e", "1-2",
                                 "--1", ".", "1.5.2", "1f"}) {
    EXPECT_EQ(parse_real(text), std::nullopt) << text;
  }
}

std::vector<std::string> texts_of(std::string_view options) {
  std::vector<std::string> texts;
  const auto words = split_option_words(options);
  EXPECT_TRUE(words.has_value()) << options;
  for (const OptionWord& word : words.value_or(std::vector<OptionWord>())) {
    texts.emplace_back(word.text);
  }
  return texts;
}

TEST(OptionWords, EndAtWhiteSpaceOutsideQuotes) {
  EXPECT_THAT(texts_of(" -DA=\"x y\"  -w\t'-D B'\n-DC=a\\ b\v"),
              ElementsAre("-DA=\"x y\"", "-w", "'-D B'", "-DC=a\\ b"));
  EXPECT_THAT(texts_of(" \t\r\f"), IsEmpty());
  EXPECT_THAT(texts_of("\"a 'b\" 'c \"d'"), ElementsAre("\"a 'b\"", "'c \"d'"));
  EXPECT_THAT(texts_of("a\\"), ElementsAre("a\\"));
}

TEST(OptionWords, KeepTheSpaceBeforeThem) {
  const auto words = split_option_words("a \t b");
  ASSERT_TRUE(words.has_value());
  ASSERT_EQ(words->size(), 2U);
  EXPECT_EQ((*words)[0].space_before, "");
  EXPECT_EQ((*words)[1].space_before, " \t ");
}

TEST(OptionWords, AreNoneIfAQuoteDoesNotEnd) {
  EXPECT_FALSE(split_option_words("-w -DA=\"b").has_value());
  EXPECT_FALSE(split_option_words("'").has_value());
  EXPECT_FALSE(split_option_words("\"a\\\"").has_value());
}

TEST(OptionWords, BetweenSpacesAreSplitWithinQuotes) {
  EXPECT_THAT(words_between_spaces(" -DA=\"x -w\"\t'b\n"), ElementsAre("-DA=\"x", "-w\"", "'b"));
  EXPECT_THAT(words_between_spaces(" \v"), IsEmpty());
}

TEST(OptionWords, LoseTheirQuotesAndBackslashes) {
  EXPECT_EQ(without_quotes("-DA=\"x 'y'\"'z'\\\"w"), "-DA=x 'y'z\"w");
  EXPECT_EQ(without_quotes("\"\""), "");
}

TEST(OptionWords, AwaitTheNameOfAMacro) {
  EXPECT_TRUE(awaits_macro("-D"));
  EXPECT_TRUE(awaits_macro("-U"));
  for (const std::string_view word : {"-DA", "-I", "-x", "", "D", "-d", "-Werror"}) {
    EXPECT_FALSE(awaits_macro(word)) << word;
  }
}

TEST(OptionWords, RequestExtensions) {
  using Names = std::vector<std::string>;
  for (const auto& [options, names] : {
           std::pair("", Names{}),
           {"-w -cl-ext=+a", {"a"}},
           {"-cl-ext=+a,+b\t-cl-ext=+c", {"a", "b", "c"}},
           {"-cl-ext=+a,-a", {}},
           {"-cl-ext=-a,+a", {"a"}},
           {"-cl-ext=+a,+b,+a", {"b", "a"}},
           {"-cl-ext=+a -cl-ext=-all,+b", {"b"}},
           {"-cl-ext=+a,-all", {}},
           {"-cl-ext=+all", {"all"}},
           {"-cl-ext=,+,-, -cl-ext=", {}},
           {"-D=-cl-ext=+a x-cl-ext=+b", {}},
           {"-cl-ext=+a,-cl-ext=+b", {"a"}},
       }) {
    EXPECT_EQ(requested_extensions(options), names) << options;
  }
}

TEST(OptionWords, RequestManyExtensionsInTimeThatGrowsWithTheText) {
  std::string options = "-cl-ext=";
  for (int number = 0; number < 100'000; ++number) {
    options += "+" + std::to_string(number) + ",-" + std::to_string(number / 2) + ",";
  }
  EXPECT_EQ(requested_extensions(options).size(), 50'000U);
}

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

// Checks that unescaping restores the text, and that `escaped` has the form that clbin(5)
// specifies.
void expect_escaped(std::string_view text, std::string_view escaped) {
  EXPECT_EQ(escape_text(text), escaped);
  EXPECT_EQ(unescape_text(escaped).value(), text);
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
    ASSERT_EQ(unescape_text(escape_text(text)).value_or("refused"), text) << pair;
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
    const auto result = unescape_text(escaped);
    ASSERT_FALSE(result.has_value()) << escaped;
    EXPECT_EQ(result.error().code, ErrorCode::manifest_invalid);
    EXPECT_EQ(result.error().message, "U+0010 is not followed by two hexadecimal digits");
  }
  for (const std::string_view escaped : {"\x10"
                                         "41",
                                         "\x10"
                                         "c3\x10"
                                         "a9",
                                         "\xff"}) {
    const auto result = unescape_text(escaped);
    ASSERT_FALSE(result.has_value()) << escaped;
    EXPECT_EQ(result.error().message,
              "a character is escaped unnecessarily, or is not valid UTF-8");
  }
}

} // namespace
} // namespace clbin::base
