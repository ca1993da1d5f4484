#include "source/source_closing.hpp"

#include "support/texts.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::source {
namespace {

using format::SourceFile;
using format::SourcePackage;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view k_error = "#error the bundle does not contain this header: ";

SourcePackage package(std::string_view text, std::vector<SourceFile> headers) {
  return {{"k.cl", "k.cl", std::string(text)}, std::move(headers)};
}

// Closes source with the headers a.h and sub/b.h, which are empty.
std::string closed(std::string_view text, std::string_view options = "") {
  const SourcePackage result =
      close_source(package(text, {{"a.h", "a.h", ""}, {"sub/b.h", "b.h", ""}}), options);
  const std::string lines = normalized(text);
  EXPECT_EQ(std::count(result.main.text.begin(), result.main.text.end(), '\n'),
            std::count(lines.begin(), lines.end(), '\n'))
      << text;
  return result.main.text;
}

std::string with_error(std::string_view rest) {
  return std::string(k_error) + std::string(rest);
}

TEST(SourceClosing, LeavesSourceWithoutIncludesAsItIs) {
  const std::string text =
      "// don't include\n#define CAT(a, b) a##b\n#pragma unroll\n#line 7 \"x.cl\"\n"
      "#if defined(cl_khr_fp64) && __OPENCL_VERSION__ >= 120\n#error no \"b.h\"\n#endif\n"
      "kernel void k(global int* p) { p[0] = 7 % 4 ? '\"' : _x; } /* # */\r\n\t\"\\\n\"";
  EXPECT_EQ(closed(text), text);
}

TEST(SourceClosing, GivesHeadersNamesThatNoFileHas) {
  const SourcePackage result = close_source(
      package("#include \"sub/b.h\"\n#  include <a.h> // c\n#import \"a.h\"\n",
              {{"a.h", "src/a.h", "#include \"sub/b.h\"\n"}, {"sub/b.h", "b.h", "b\n"}}),
      "");
  EXPECT_EQ(result.main.text,
            "#include \"sub/clbin~b.h\"\n#  include \"clbin~a.h\" // c\n#import \"clbin~a.h\"\n");
  ASSERT_EQ(result.headers.size(), 2U);
  EXPECT_EQ(result.headers[0],
            (SourceFile{"clbin~a.h", "src/a.h", "#include \"sub/clbin~b.h\"\n"}));
  EXPECT_EQ(result.headers[1], (SourceFile{"sub/clbin~b.h", "b.h", "b\n"}));
  EXPECT_EQ(with_open_names("sub/clbin~b.h:1: from clbin~a.h:2"), "sub/b.h:1: from a.h:2");
}

TEST(SourceClosing, MakesAnErrorOfIncludesThatThePackageCannotAnswer) {
  EXPECT_EQ(closed("#if 0\n#include <stdexcept>\n#endif\n"),
            "#if 0\n" + with_error("<stdexcept>\n#endif\n"));
  EXPECT_EQ(closed("int x;\n  #  include \"/etc/passwd\" // c\n"),
            "int x;\n  #  error the bundle does not contain this header: \"/etc/passwd\" "
            "// c\n");
}

// Some compiler reads each of these as an #include of a file. Each becomes an #error.
TEST(SourceClosing, KnowsEverySpellingOfAnInclude) {
  for (const std::string_view text : {
           "#include \"/f\"",
           "#include</f>",
           "#import \"/f\"",
           "#include_next \"a.h\"",
           "#__include_macros \"/f\"",
           "#embed \"a.h\"",
           "%:include \"/f\"",
           "%\\\n:include \"/f\"",
           "?\?=include \"/f\"",
           "\\\n#\\\ninc\\\nlude\\\n \"/f\"",
           "#inc\\ \t\nlude \"/f\"",
           "#inc\?\?/\nlude \"/f\"",
           "#/* c */ /* d\n */ include /* e */ \"/f\"",
           "#/\\\n* c *\\\n/include \"/f\"",
           "#\v\finclude \"/f\"",
           "#\xC2\xA0include\xE2\x80\x83\"/f\"",
           "int x;\r#include \"/f\"",
           "// c \r#include \"/f\"",
           "#include \"a.h",
           "#include <a.h",
           "#include \"./a.h\"",
           "#include \"sub/../a.h\"",
           "#include \"b.h\"",
           "#include \"a.h\\\n\"",
           "#include \"a\\.h\"",
           "#include",
           "#include 7",
           "#include NAME",
           "#include __FILE__",
           "#include/*\"a.h\"*/\"/f\"",
           "#include//\"a.h\"",
           // Text that is code only for some compilers: raw strings, digit separators, and literals
           // without an end.
           "R\"x(\n/*)x\"\n#include \"/f\"\n*/",
           "0'/*'\n#include \"/f\"\n/*'*/",
           "it isn't /*\n#include \"/f\"\n*/",
           "/* \\\n#include \"/f\"\n*/",
       }) {
    EXPECT_THAT(closed(text), HasSubstr("error the bundle does not contain this header")) << text;
  }
  EXPECT_THAT(closed(std::string_view("#\0include \"/f\"", 14)),
              HasSubstr("# error the bundle does not contain"));
}

TEST(SourceClosing, TakesNoOtherDirectiveForAnInclude) {
  for (const std::string_view text :
       {"#includes \"/f\"", "#define include \"/f\"", "#\ninclude \"/f\"", "include \"/f\"",
        "#line 1 \"/f\"", "#pragma include \"/f\"", "a %include"}) {
    EXPECT_EQ(closed(text), text);
  }
}

TEST(SourceClosing, FindsWhatAReplacementUncovers) {
  // Without the name, the comment would end elsewhere.
  const std::string text =
      closed("# /* __has_include(\"*/\") */ include \"/f\"\n# /* __has_include(\"*/\") */ define X "
             "\"/f\"\n#define X \"a.h\"\n#define X \"sub/b.h\"\n#include X\n");
  EXPECT_THAT(text, HasSubstr("error the bundle does not contain this header: \"/f\""));
  EXPECT_THAT(text, HasSubstr("error the bundle does not contain this header: X"));
}

TEST(SourceClosing, KeepsNumbersOfLinesWithinWhatItReplaces) {
  EXPECT_EQ(closed("#inc\\\nlude \"/f\"\nx\n"),
            "#error the bundle does not contain this header:\\\n \"/f\"\nx\n");
  EXPECT_EQ(closed("#if __has_include(/*\n*/\"/f\")\nx\n"), "#if  0 \\\n\nx\n");
}

TEST(SourceClosing, AnswersWhatIsAskedOfHeaders) {
  EXPECT_EQ(closed("#if defined(__has_include) && __has_include(\"a.h\") && __has_include(<x>)\n"),
            "#if defined( __LINE__ ) &&  1  &&  0 \n");
  EXPECT_EQ(closed("#if __has_include_next(\"a.h\") || __has_embed(\"a.h\")\n"),
            "#if  0  ||  0 \n");
  EXPECT_EQ(closed("#ifndef __has_include\n#define __has_include(x) 0\n#endif\n"),
            "#ifndef  __LINE__ \n#define clbin_has_include(x) 0\n#endif\n");
  EXPECT_EQ(closed("#define HEADER \"a.h\"\n#if __has_include(HEADER) || __has_include(X(1))\n"),
            "#define HEADER \"clbin~a.h\"\n#if  1  ||  0 \n");
}

TEST(SourceClosing, LeavesNoWordThatLooksForFiles) {
  for (const std::string_view text : {
           "#define H __has_include\n#if H(\"/f\")\n",
           "#define H __has_\\\ninclude\n#if H(\"/f\")\n",
           "#define H __has_\?\?/\ninclude\n",
           "#if __has_include /* c */ ( \"a)b\" )\n",
           "#if __has_include(__has_include(\"/f\"))\n",
           "#if __has_include(\n",
           "#if __has_include(X\n)\n",
           "#define D(x, y) x##defined __has_include(\"/f\")\n",
           "__has_include __has_include_next __has_embed\n",
       }) {
    EXPECT_THAT(closed(text), Not(HasSubstr("__has_"))) << text;
  }
  EXPECT_EQ(closed("#pragma GCC dependency \"/f\"\n_Pragma(\"GCC dependency \\\"/f\\\"\")\n"
                   "#pragma include_alias(\"a.h\", \"/f\")\n"),
            "#pragma GCC closed \"/f\"\n_Pragma(\"GCC closed \\\"/f\\\"\")\n"
            "#pragma closed(\"a.h\", \"/f\")\n");
}

TEST(SourceClosing, RefusesSourceThatMakesSuchAWordOfParts) {
  const auto refused = [](std::string_view text, std::string_view options) {
    const SourcePackage result =
        close_source(package(text, {{"a.h", "a.h", "int lude;"}}), options);
    return result.headers.empty() &&
           result.main.text == "#error this source or its build options construct a preprocessor "
                               "word that searches for files\n";
  };
  EXPECT_TRUE(refused("#define C(a, b) a##b\n#if C(__has_, include)(\"/f\")\n", ""));
  EXPECT_TRUE(refused("#define C(a, b) a##b\n#if C(__has_inc, lude)(\"/f\")\n", ""));
  EXPECT_TRUE(refused("C(_, C(_, has, _), embed)\n", ""));
  EXPECT_TRUE(refused("H(\"/f\")\n", "-DH=__has_include"));
  EXPECT_TRUE(refused("H include\n", "-D H=__has_"));
  EXPECT_FALSE(refused("#define __has_x 1\nint _has, has_, include;\n", "-D__has=include_"));
}

TEST(SourceClosing, RefusesSourceOfMoreThanSixteenMebibytes) {
  std::string text = "// ";
  text.resize(k_max_source_bytes, ' ');
  EXPECT_EQ(close_source(package(text, {}), "").main.text, text);
  EXPECT_EQ(close_source(package(text, {{"a.h", "a.h", "\n"}}), "").main.text,
            "#error the bundle's source is larger than 16 MiB, and libclbin does not build it\n");
}

TEST(SourceClosing, FollowsMacrosThatHaveOneMeaning) {
  EXPECT_EQ(closed("#define NAME \"a.h\"\n#include NAME\n"),
            "#define NAME \"clbin~a.h\"\n#include NAME\n");
  EXPECT_EQ(closed("#define S(x) #x\n#define T(x) S(x)\n#include T(sub/NAME.h) // c\n",
                   "-cl-std=CL1.2 -D NAME=b"),
            "#define S(x) #x\n#define T(x) S(x)\n#include \"sub/clbin~b.h\"// c\n");
  EXPECT_EQ(closed("#ifndef N\n#define N c.h\n#endif\n#define S(x) #x\n#define T(x) S(x)\n"
                   "#include T(N)\n",
                   "-DN=a.h"),
            "#ifndef N\n#define N c.h\n#endif\n#define S(x) #x\n#define T(x) S(x)\n"
            "#include \"clbin~a.h\"\n");
}

TEST(SourceClosing, KeepsMacrosThatAreAlwaysHeadersOfThePackage) {
  EXPECT_EQ(closed("#ifdef X\n#define NAME \"a.h\" // c\n#else\n# define NAME \"sub/b.h\"\n#endif\n"
                   "#include NAME\n"),
            "#ifdef X\n#define NAME \"clbin~a.h\" // c\n#else\n# define NAME \"sub/clbin~b.h\"\n"
            "#endif\n#include NAME\n");
}

// The value of a macro may depend on the branch, the compiler or the device.
TEST(SourceClosing, MakesAnErrorOfMacrosThatMayBeAnyFile) {
  for (const std::string_view definitions : {
           "#define NAME \"a.h\"\n#define NAME \"/f\"\n",
           "#define NAME \"a.h\"\n#define NAME OTHER\n#define OTHER \"/f\"\n",
           "#define NAME \"a.h\"\n#define NAME(x) x\n",
           "#define NAME \"a.h\"\n#define NAME\n",
           "#define NAME \"a.h\"\n#define \\\nNA\\\nME /* c */ \"/f\"\n",
           "#define NAME \"a.h\"\n#define NAME \"sub/b.h\"\n// c\r?\?=define NAME </f>\n",
           "#define NAME \"a.h\"\n#define NAME L\"a.h\"\n",
           "#define S(x) #x\n#define T(x) S(x)\n#define NAME T(X/a.h)\n#define X .\n#define X ..\n",
           "",
       }) {
    const std::string text = std::string(definitions) + "#include NAME\n";
    EXPECT_THAT(closed(text), HasSubstr(with_error("NAME\n"))) << text;
  }
  EXPECT_THAT(closed("#define __FILE__ \"a.h\"\n#define __FILE__ \"sub/b.h\"\n#include __FILE__\n"),
              HasSubstr(with_error("__FILE__\n")));
  EXPECT_THAT(closed("#define NAME \"a.h\"\n#include NAME\n", "-DNAME=\"/f\""),
              HasSubstr(with_error("NAME\n")));
}

TEST(SourceClosing, TakesHeadersOfAnyNameForNoOther) {
  const SourcePackage result = close_source(
      package("#include \"clbin~x\"\n#include \"x\"\n#include \"q#include \"\n#include \"b\\c\"\n",
              {{"x", "", ""}, {"clbin~x", "", ""}, {"q#include ", "", ""}, {"b\\c", "", ""}}),
      "");
  EXPECT_EQ(result.main.text,
            "#include \"clbin~x\"\n#include \"clbin~x\"\n" +
                with_error("\"q#error the bundle does not contain this header: \"\n") +
                with_error("\"b\\c\"\n"));
  EXPECT_EQ(result.headers[1].include_name, "clbin~clbin~x");
}

TEST(SourceClosing, NormalizesWhatCompilersReadDifferently) {
  EXPECT_EQ(normalized("a\rb\r\nc\n\rd"), "a\nb\r\nc\n\nd");
  EXPECT_EQ(normalized("?\?= ?\?/ ?\?' ?\?( ?\?) ?\?! ?\?< ?\?> ?\?- ?\?a ?\?\?="),
            "# \\ ^ [ ] | { } ~ ?\?a ?#");
  EXPECT_EQ(normalized("a\\ \t\r\nb\\ c"), "a\\\nb\\ c");
  EXPECT_EQ(normalized(std::string_view("a\0b", 3)), "a b");
}

// Half a megabyte of each. Quadratic time would take minutes, and exponential growth gigabytes.
TEST(SourceClosing, TakesTimeAndMemoryInProportionToTheText) {
  constexpr std::size_t k_bytes = 1U << 17U;
  for (const std::string_view part : {"#",
                                      "#/*",
                                      "#/**/",
                                      "/*# /**/ ",
                                      "#include <",
                                      "#include \"x\"\n",
                                      "#include A\n",
                                      "#include A B(",
                                      "#import A ",
                                      "__has_include(",
                                      "__has_include(A(",
                                      "_\\\n",
                                      "#\\\n",
                                      "\\ ",
                                      "%\\\n",
                                      "#define A \"a.h\"\n#include A\n",
                                      "#define A A A\n#include A\n",
                                      "GCC ",
                                      "#define x##1 x##1 ",
                                      "#define F(x) F(x##1 x##1)\n#include F(F(F(x)))\n",
                                      "_ h a s ",
                                      "# /* __has_include(\"*/\") */ ",
                                      "?\?=",
                                      "#include \"a.h\"\n"}) {
    SCOPED_TRACE(part);
    for (const std::size_t size : {1U, 2U, 4U}) {
      const std::string text =
          test::repeated(part, static_cast<int>(size * k_bytes / 4 / part.size()));
      const SourcePackage result = close_source(package(text, {{"a.h", "a.h", ""}}), text);
      EXPECT_LT(result.main.text.size(), 2 * text.size() + (1U << 17U));
    }
  }
}

} // namespace
} // namespace clbin::source
