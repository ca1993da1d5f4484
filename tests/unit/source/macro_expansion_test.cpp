#include "source/macro_expansion.hpp"

#include "support/texts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::source {
namespace {

using test::repeated;
using testing::ElementsAre;

MacroValue object(const std::string& text) {
  return {std::nullopt, text};
}

MacroValue function(const std::string& parameters, const std::string& text) {
  return {split_parameters(parameters), text};
}

MacroExpansion expansion_of(const std::string& text, const MacroTable& macros) {
  ExpansionBudget budget;
  return expand_macros(text, macros, "here.cl", budget);
}

std::set<std::string> expanded(const std::string& text, const MacroTable& macros) {
  const MacroExpansion expansion = expansion_of(text, macros);
  EXPECT_EQ(expansion.extent, MacroExpansion::Extent::whole) << text;
  return expansion.texts;
}

// A bomb leaves no result, and most of the program's budget remains.
void expect_cut_short(const std::string& text, const MacroTable& macros) {
  SCOPED_TRACE(text.substr(0, 40));
  ExpansionBudget budget;
  const MacroExpansion expansion = expand_macros(text, macros, "here.cl", budget);
  EXPECT_EQ(expansion.extent, MacroExpansion::Extent::cut_short);
  EXPECT_TRUE(budget.take(ExpansionBudget::k_default_steps - 20000,
                          ExpansionBudget::k_default_bytes - (8U << 20U)));
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
  EXPECT_THAT(expansion_of("B", macros).macros, ElementsAre("A", "B"));
}

TEST(MacroExpansion, KnowsTheFile) {
  EXPECT_THAT(expanded("__FILE__", {}), ElementsAre("\"here.cl\""));
}

TEST(MacroExpansion, DoesNotExpandAMacroWithinItself) {
  EXPECT_THAT(expanded("A", {{"A", {object("B A")}}, {"B", {object("A b")}}}),
              ElementsAre("A b A"));
  EXPECT_THAT(expanded("f(2)(9)", {{"f", {function("a", "a*g")}}, {"g", {function("a", "f(a)")}}}),
              ElementsAre("2*9*g")); // the example of C11, 6.10.3.4, for which 2*f(9) is also valid
}

TEST(MacroExpansion, EndsOnWhatGrowsWithoutEnd) {
  MacroTable macros;
  for (int i = 0; i < 60; ++i) {
    const std::string next = "A" + std::to_string(i + 1);
    macros["A" + std::to_string(i)] = {object(next + " " + next), object(next)};
  }
  expect_cut_short("A0", macros);
  std::string nested = "1";
  for (int i = 0; i < 5000; ++i) {
    nested = "F(" + nested + ")";
  }
  expect_cut_short(nested, {{"F", {function("x", "x")}}});
}

// Each level pastes its argument many times. No token is ever expanded, so counting expanded
// tokens does not stop it.
std::string nested_calls(int levels) {
  std::string text = "y";
  for (int i = 0; i < levels; ++i) {
    text = "F(" + text + ")";
  }
  return text;
}

TEST(MacroExpansion, EndsOnArgumentsThatArePastedManyTimes) {
  for (const int size : {1, 2, 4}) {
    const MacroTable macros = {{"F", {function("x", repeated("x##1 ", 400 * size))}}};
    expect_cut_short(nested_calls(20 * size), macros);
  }
}

TEST(MacroExpansion, EndsOnTokensThatGrow) {
  for (const int size : {1, 2, 4}) {
    // Always one token, which doubles in length with each level.
    expect_cut_short("P(" + repeated("G(", 40 * size) + "y" + repeated(")", 40 * size + 1),
                     {{"G", {function("x", "H(x, x)")}},
                      {"H", {function("a, b", "a##b")}},
                      {"P", {function("x", "x")}}});
    // Each level doubles the backslashes.
    expect_cut_short(repeated("X(", 40 * size) + "\"\\\\\"" + repeated(")", 40 * size),
                     {{"X", {function("x", "S(x)")}}, {"S", {function("x", "#x")}}});
    expect_cut_short("L", {{"L", {object(repeated("a##", 100000 * size) + "a")}}});
  }
}

TEST(MacroExpansion, EndsOnChainsCallsAndChoicesWithoutEnd) {
  for (const int size : {1, 2, 4}) {
    MacroTable chain;
    MacroTable choices;
    for (int i = 0; i < 5000 * size; ++i) {
      const std::string name = "A" + std::to_string(i);
      const std::string next = "A" + std::to_string(i + 1);
      chain[name] = {object(next)};
      choices[name] = {object(next + " x"), object(next + " y")};
    }
    expect_cut_short("A0", chain);
    expect_cut_short("A0", choices);
    expect_cut_short(repeated("F(", 20000 * size), {{"F", {function("x", "x")}}});
    const std::string parameters = repeated("p,", 20000 * size) + "q";
    expect_cut_short("M()", {{"M", {function(parameters, repeated("z ", 20000 * size))}}});
  }
}

TEST(MacroExpansion, SharesABudgetBetweenExpansions) {
  const MacroTable bomb = {{"F", {function("x", repeated("x##1 ", 400))}}};
  ExpansionBudget budget;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(expand_macros(nested_calls(20), bomb, "", budget).extent,
              MacroExpansion::Extent::cut_short);
  }
  EXPECT_EQ(expand_macros("A B C D", {}, "", budget).extent, MacroExpansion::Extent::cut_short);
}

TEST(MacroExpansion, TakesAnyText) {
  const MacroTable macros = {{"F", {function("x", "# x ## #x ##"), function("", "##")}},
                             {"H", {function("...", "# __VA_ARGS__ ## # 1")}}};
  for (const char* const text : {"", "F", "F(", "F)", "F(,,", "F(##)", "\"", "'\\", "H(F(1), #)"}) {
    EXPECT_EQ(expanded(text, macros).empty(), false) << text;
  }
}

} // namespace
} // namespace clbin::source
