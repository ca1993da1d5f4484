#include "base/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

} // namespace
} // namespace clbin::base
