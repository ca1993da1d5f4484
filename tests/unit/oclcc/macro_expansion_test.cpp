#include "macro_expansion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using testing::ElementsAre;

MacroValue object(const std::string& text) {
  return {std::nullopt, text};
}

MacroValue function(const std::string& parameters, const std::string& text) {
  return {split_parameters(parameters), text};
}

std::set<std::string> expanded(const std::string& text, const MacroTable& macros) {
  return expand_macros(text, macros, "here.cl").texts;
}

TEST(MacroExpansion, LeavesWhatIsNoMacro) {
  EXPECT_THAT(expanded("  a.h  <b/c.h>", {}), ElementsAre("a.h <b/c.h>"));
  EXPECT_THAT(expanded("F G(1", {{"F", {function("x", "y")}}, {"G", {function("x", "y")}}}),
              ElementsAre("F G(1"));
}

TEST(MacroExpansion, StringifiesAsHashcatDoes) {
  const MacroTable macros = {{"M2S", {function("x", "XM2S(x)")}},
                             {"XM2S", {function("x", "#x")}},
                             {"INCLUDE_PATH", {object("/usr/share/x")}}};
  EXPECT_THAT(expanded("M2S(INCLUDE_PATH/inc_vendor.h)", macros),
              ElementsAre("\"/usr/share/x/inc_vendor.h\""));
  EXPECT_THAT(expanded("XM2S(INCLUDE_PATH/a)", macros), ElementsAre("\"INCLUDE_PATH/a\""));
  EXPECT_THAT(expanded("XM2S( a  \"b\\n\" )", macros), ElementsAre("\"a \\\"b\\\\n\\\"\""));
}

TEST(MacroExpansion, Pastes) {
  const MacroTable macros = {{"CAT", {function("a,b", "a##b")}},
                             {"HEADER", {object("wrong")}},
                             {"ab", {object("<pasted.h>")}},
                             {"E", {function("x", "[x##1]")}}};
  EXPECT_THAT(expanded("CAT(a,b)", macros), ElementsAre("<pasted.h>"));
  EXPECT_THAT(expanded("CAT(HEAD, ER2)", macros), ElementsAre("HEADER2"));
  EXPECT_THAT(expanded("CAT(,b) E()", macros), ElementsAre("b [1]"));
}

TEST(MacroExpansion, ExpandsArgumentsAndWhatComesOut) {
  const MacroTable macros = {{"F", {function("x", "G(x)")}},
                             {"G", {function("x, y", "<x/y.h>")}},
                             {"PAIR", {object("a,b")}},
                             {"ALIAS", {object("F")}},
                             {"ALL", {function("x, ...", "x:__VA_ARGS__")}}};
  EXPECT_THAT(expanded("ALIAS(PAIR)", macros), ElementsAre("<a/b.h>"));
  EXPECT_THAT(expanded("ALL(1, (2, 3), 4) ALL(1)", macros), ElementsAre("1:(2, 3), 4 1:"));
  EXPECT_THAT(expanded("G(1, 2, 3)", macros), ElementsAre("G(1, 2, 3)"));
}

TEST(MacroExpansion, GivesEachMacroOneValueThroughout) {
  const MacroTable macros = {
      {"A", {object("1"), object("2")}}, {"B", {object("A-A")}}, {"C", {object("x"), object("y")}}};
  EXPECT_THAT(expanded("B", macros), ElementsAre("1-1", "2-2"));
  EXPECT_THAT(expanded("A C", macros), ElementsAre("1 x", "1 y", "2 x", "2 y"));
  EXPECT_THAT(expand_macros("B", macros, "").macros, ElementsAre("A", "B"));
}

TEST(MacroExpansion, KnowsTheFile) {
  EXPECT_THAT(expanded("__FILE__", {}), ElementsAre("\"here.cl\""));
}

TEST(MacroExpansion, DoesNotExpandAMacroWithinItself) {
  EXPECT_THAT(expanded("A", {{"A", {object("B A")}}, {"B", {object("A b")}}}),
              ElementsAre("A b A"));
  EXPECT_THAT(expanded("f(2)(9)", {{"f", {function("a", "a*g")}}, {"g", {function("a", "f(a)")}}}),
              ElementsAre("2*9*g")); // the example of C11, 6.10.3.4, that may also be 2*f(9)
}

TEST(MacroExpansion, EndsOnWhatGrowsWithoutEnd) {
  MacroTable macros;
  for (int i = 0; i < 60; ++i) {
    const std::string next = "A" + std::to_string(i + 1);
    macros["A" + std::to_string(i)] = {object(next + " " + next), object(next)};
  }
  EXPECT_FALSE(expanded("A0", macros).empty());
  std::string nested = "1";
  for (int i = 0; i < 5000; ++i) {
    nested = "F(" + nested + ")";
  }
  EXPECT_FALSE(expanded(nested, {{"F", {function("x", "x")}}}).empty());
}

TEST(MacroExpansion, TakesAnyText) {
  const MacroTable macros = {{"F", {function("x", "# x ## #x ##"), function("", "##")}},
                             {"H", {function("...", "# __VA_ARGS__ ## # 1")}}};
  for (const char* const text : {"", "F", "F(", "F)", "F(,,", "F(##)", "\"", "'\\", "H(F(1), #)"}) {
    EXPECT_FALSE(expanded(text, macros).empty()) << text;
  }
}

} // namespace
} // namespace oclcc
