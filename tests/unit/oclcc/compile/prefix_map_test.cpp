#include "compile/compile_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(PrefixMap, TakesTheLastMappingThatFits) {
  const std::vector<PrefixMapping> mappings = {{"/a", "1"}, {"/a/b", "2"}, {"/c", "3"}};
  EXPECT_EQ(map_prefix(mappings, "/a/x"), "1/x");
  EXPECT_EQ(map_prefix(mappings, "/a/b/x"), "2/x");
  EXPECT_EQ(map_prefix(mappings, "/d/x"), "/d/x");
  EXPECT_EQ(map_prefix(mappings, "a/x"), "a/x");
  EXPECT_EQ(map_prefix({}, "/a"), "/a");
}

TEST(PrefixMap, FindsTheDirectiveAfterAStrayCarriageReturn) {
  clbin::format::SourcePackage package;
  package.main.text = "/* a\rb */\n#line 1 \"/a/k.cl\"\nconstant char p[] = \"/a/k.cl\";\n";
  const std::vector<PrefixMapping> mappings = {{"/a", "src"}};
  (void)map_line_names(mappings, package);
  EXPECT_EQ(package.main.text,
            "/* a\rb */\n#line 1 \"src/k.cl\"\nconstant char p[] = \"/a/k.cl\";\n");
}

TEST(PrefixMap, MapsTheNamesOfLineDirectivesAndNothingElse) {
  clbin::format::SourcePackage package;
  package.main.text = "#line 3 \"/a/k.y\"\n"
                      "constant char s[] = \"/a/k.y\"; // \"/a/k.y\"\n"
                      "# 4 \"/a/l.y\" 2\n"
                      "#line 5\n"
                      "#line 6 \"/b/k.y\"\n";
  package.headers.push_back({"h.h", "h.h", "/* \"/a/h.y\" */ #\n  #  line 1 \"/a/h.y\"\nint x;"});
  const std::vector<PrefixMapping> mappings = {{"/a", "src"}};
  const auto names = map_line_names(mappings, package);
  EXPECT_EQ(package.main.text, "#line 3 \"src/k.y\"\n"
                               "constant char s[] = \"/a/k.y\"; // \"/a/k.y\"\n"
                               "# 4 \"src/l.y\" 2\n"
                               "#line 5\n"
                               "#line 6 \"/b/k.y\"\n");
  EXPECT_EQ(package.headers.front().text, "/* \"/a/h.y\" */ #\n  #  line 1 \"src/h.y\"\nint x;");
  EXPECT_THAT(names, ElementsAre(Pair("src/h.y", "/a/h.y"), Pair("src/k.y", "/a/k.y"),
                                 Pair("src/l.y", "/a/l.y")));
}

} // namespace
} // namespace oclcc
