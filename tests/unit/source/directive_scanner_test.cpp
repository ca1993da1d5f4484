#include "source/directive_scanner.hpp"

#include "support/texts.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::source {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Returns for each include the first letter of its form, the name, and the token in the text.
std::vector<std::string> includes(const std::string& text) {
  std::vector<std::string> result;
  for (const IncludeDirective& include : scan_directives(text).includes) {
    result.push_back(std::string(1, "qam"[static_cast<std::size_t>(include.form)]) + " " +
                     include.name + " " +
                     text.substr(include.token.begin, include.token.end - include.token.begin));
  }
  return result;
}

TEST(DirectiveScanner, FindsIncludesOfEveryForm) {
  EXPECT_THAT(includes("#include \"a.h\"\n  #  include <b/c.h>\n#include HDR\n#import \"d.h\""),
              ElementsAre("q a.h \"a.h\"", "a b/c.h <b/c.h>", "m HDR HDR", "q d.h \"d.h\""));
}

TEST(DirectiveScanner, FindsIncludesInEveryBranch) {
  EXPECT_THAT(includes("#if 0\n#include \"a.h\"\n#else\n#include \"b.h\"\n#endif\n"),
              ElementsAre("q a.h \"a.h\"", "q b.h \"b.h\""));
}

TEST(DirectiveScanner, IgnoresCommentsAndStrings) {
  EXPECT_THAT(includes("// #include \"a.h\"\n"
                       "/* \n#include \"b.h\"\n*/\n"
                       "// a long comment \\\n#include \"c.h\"\n"
                       "int x; #include \"d.h\"\n"
                       "constant char s[] = \"\\\n#include \\\"e.h\\\"\";\n"
                       "char q = '\"'; // \"\n"
                       "/* c */ #/**/include/* c */\"f.h\" // \"g.h\"\n"),
              ElementsAre("q f.h \"f.h\""));
}

TEST(DirectiveScanner, KeepsCommentMarksInsideHeaderNames) {
  EXPECT_THAT(includes("#include <a//b.h>\n#include \"c/*d.h\"\n#include \"e.h\"\n"),
              ElementsAre("a a//b.h <a//b.h>", "q c/*d.h \"c/*d.h\"", "q e.h \"e.h\""));
}

TEST(DirectiveScanner, IsNotConfusedByApostrophes) {
  EXPECT_THAT(includes("#error don't\n#if 0\nit isn't \" here\n#endif\n#include \"a.h\"\n"),
              ElementsAre("q a.h \"a.h\""));
}

TEST(DirectiveScanner, JoinsContinuedLines) {
  EXPECT_THAT(includes("#inc\\\nlude \\\r\n \"a\\  \n.h\"\n"), ElementsAre("q a.h \"a\\  \n.h\""));
}

// As clang does; no other line ends like this.
TEST(DirectiveScanner, JoinsALineContinuedByALineFeedAndACarriageReturn) {
  const Directives found =
      scan_directives("#inc\\\n\rlude <a.h>\n#\\\r\n\rinclude <b.h>\n#line 9\n");
  ASSERT_EQ(found.includes.size(), 1U);
  EXPECT_EQ(found.includes[0].name, "a.h");
  ASSERT_EQ(found.lines.size(), 1U);
  EXPECT_EQ(found.lines[0].physical_line, 7U);
}

TEST(DirectiveScanner, SkipsAByteOrderMark) {
  const Directives found =
      scan_directives("\xEF\xBB\xBF#include <a.h>\n\xEF\xBB\xBF#include <b.h>\n");
  ASSERT_EQ(found.includes.size(), 1U);
  EXPECT_EQ(found.includes[0].name, "a.h");
  EXPECT_EQ(found.includes[0].token.begin, 12U);
}

TEST(DirectiveScanner, EndsLinesAtCarriageReturns) {
  const Directives found =
      scan_directives("int a;\r#include <a.h>\r#define X \\\r  7\r// b\r#line 9\r#embed <c>\r");
  ASSERT_EQ(found.includes.size(), 1U);
  ASSERT_EQ(found.macros.size(), 1U);
  EXPECT_EQ(found.macros[0].value, "7");
  ASSERT_EQ(found.lines.size(), 1U);
  EXPECT_EQ(found.lines[0].physical_line, 6U);
  EXPECT_EQ(found.lines[0].end, 50U);
  EXPECT_THAT(found.embed_lines, testing::ElementsAre(7U));
}

TEST(DirectiveScanner, FindsWhatHasIncludeAsksFor) {
  EXPECT_THAT(includes("#if __has_include(\"a.h\") && __has_include ( <b.h> )\n"
                       "#elif __has_include(M(x)) || __has_include\n#endif\n"),
              ElementsAre("q a.h \"a.h\"", "a b.h <b.h>", "m M(x) M(x)"));
  EXPECT_THAT(
      includes("#ifdef __has_include\n#if defined(__has_include) || __has_includes(\"x\")\n"),
      IsEmpty());
}

TEST(DirectiveScanner, TellsWhatSearchesBehindItsOwnFolder) {
  const std::string text = "#include_next <a.h>\n#if __has_include_next(\"b.h\")\n#endif\n"
                           "#include \"c.h\"\n";
  std::vector<std::string> found;
  for (const IncludeDirective& include : scan_directives(text).includes) {
    const TextRange& word = include.keyword;
    found.push_back((include.start == IncludeStart::next ? "next: " : "first: ") +
                    text.substr(word.begin, word.end - word.begin) + " " + include.name);
  }
  EXPECT_THAT(found, ElementsAre("next: include_next a.h", "next: __has_include_next b.h",
                                 "first: include c.h"));
}

TEST(DirectiveScanner, TakesAllTokensOfAnIncludeThatAMacroSpells) {
  EXPECT_THAT(includes("#include M2S(DIR/a.h) // c\n#include  M ( \"x)\" ) \n"),
              ElementsAre("m M2S(DIR/a.h) M2S(DIR/a.h)", "m M ( \"x)\" ) M ( \"x)\" )"));
}

TEST(DirectiveScanner, FindsMacros) {
  const std::string text = "#define A \"a.h\" // c\n#define B(x) x\n#define C\n# define D <d.h>\n";
  std::vector<std::string> found;
  for (const MacroDefinition& macro : scan_directives(text).macros) {
    found.push_back(macro.name + (macro.parameters ? "(" + *macro.parameters + ")" : "") + "=" +
                    macro.value + " " +
                    text.substr(macro.token.begin, macro.token.end - macro.token.begin));
  }
  EXPECT_THAT(found, ElementsAre("A=\"a.h\" \"a.h\"", "B(x)=x x", "C= ", "D=<d.h> <d.h>"));
}

TEST(DirectiveScanner, FindsLineDirectives) {
  std::vector<std::string> found;
  for (const LineDirective& line :
       scan_directives("#line 50\n\n# 7 \"x y.cl\" 2\n#line M\n").lines) {
    found.push_back(fmt::format("{}: {} {}", line.physical_line, line.next_line, line.file));
  }
  EXPECT_THAT(found, ElementsAre("1: 50 ", "3: 7 x y.cl"));
}

TEST(DirectiveScanner, FindsNoNamesWithinNames) {
  EXPECT_THAT(includes("#if __has_include(A(__has_include(B))) && __has_include(C)\n"),
              ElementsAre("m A(__has_include(B)) A(__has_include(B))", "m C C"));
}

// A quarter of a million names within names, or quotes that could each begin a name. They would
// take hours and gigabytes if the scanner read each from the start of its line to the end.
TEST(DirectiveScanner, TakesTimeAndMemoryInProportionToTheText) {
  const auto many = [](std::string_view text) { return test::repeated(text, 250000); };
  EXPECT_THAT(includes("#if " + many("__has_include(")), IsEmpty());
  EXPECT_THAT(includes("#if " + many("__has_include(A ") + many(")")), SizeIs(1));
  EXPECT_THAT(includes("#" + many("    ") + many("<\"")), IsEmpty());
}

TEST(DirectiveScanner, EndsWithTheTextInsideALiteral) {
  const std::string text = "#include A'\\";
  const auto found = scan_directives(text).includes;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().name, "A'\\");
  EXPECT_EQ(found.front().token.end, text.size());
}

TEST(DirectiveScanner, TakesAnyText) {
  for (const std::string text : {"",
                                 "#",
                                 "#include",
                                 "#include ",
                                 "#include \"",
                                 "#include <",
                                 "#include \"a",
                                 "/*",
                                 "\"",
                                 "\\",
                                 "#\\\n",
                                 "#define",
                                 "#line",
                                 "#if __has_include(",
                                 "#if __has_include(\"",
                                 "'\\",
                                 "#include <\n>",
                                 "#define A(",
                                 "#if __has_include(M(",
                                 "%:include \"a.h\""}) {
    EXPECT_THAT(includes(text), IsEmpty()) << text;
  }
}

} // namespace
} // namespace clbin::source
