#include "closure/run_time_closure.hpp"

#include "base/file_io.hpp"
#include "support/texts.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <sys/stat.h>

namespace clbin::closure {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Reads = RunTimeClosure::Reads;

// Each test runs inside a folder of its own, which is the working directory of the drivers.
class RunTimeClosureTest : public testing::Test {
protected:
  void SetUp() override {
    m_before = fs::current_path();
    m_folder.emplace(base::TemporaryFolder::create({}, "run_time_closure_test").value());
    fs::current_path(m_folder->path());
  }
  void TearDown() override { fs::current_path(m_before); }

  static void write(const fs::path& path, const std::string& text) { test::write_text(path, text); }

  static RunTimeClosure closure(const std::string& text, const std::string& options = {},
                                std::vector<format::SourceFile> headers = {}) {
    return find_run_time_closure(text, std::move(headers), source::parse_build_options(options));
  }

  static std::string why_not(const std::string& text, const std::string& options = {}) {
    return closure(text, options).why_not_keyed;
  }

  static std::vector<std::string> headers(const RunTimeClosure& closure) {
    std::vector<std::string> result;
    for (const format::SourceFile& header : closure.package.value().headers) {
      result.push_back(header.include_name + ": " + header.text);
    }
    return result;
  }

  static base::Digest digest(const std::string& text, const std::string& options) {
    const auto found = closure(text, options);
    return source::source_digest(found.package.value_or(package_of_text(text)));
  }

private:
  fs::path m_before;
  std::optional<base::TemporaryFolder> m_folder;
};

TEST_F(RunTimeClosureTest, TextWithoutDirectivesIsThePackage) {
  const RunTimeClosure found = closure("#define A 1\nkernel void k() {}\n");
  EXPECT_FALSE(found.package.has_value()); // needs no copy of it
  const format::SourcePackage package = package_of_text("#define A 1\nkernel void k() {}\n");
  EXPECT_EQ(package.main.text, "#define A 1\nkernel void k() {}\n");
  EXPECT_THAT(package.headers, IsEmpty());
  EXPECT_EQ(found.why_not_keyed, "");
  EXPECT_EQ(found.reads, Reads::text_only);
}

TEST_F(RunTimeClosureTest, TextThatOnlySpeaksOfIncludesReadsNoFiles) {
  EXPECT_EQ(closure("// This concludes, includes and imports.\nkernel void k() {}\n").reads,
            Reads::text_only);
  EXPECT_EQ(closure("#ifdef embed\n#endif\n").reads, Reads::text_only);
  for (const char* const text :
       {"#include \"a.h\"\n", "#if __has_include(\"a.h\")\n#endif\n", "%:include \"a.h\"\n",
        "#inc\\\nlude \"a.h\"\n", "#if 0\n#include \"a.h\"\n#endif\n", "#embed \"a.h\"\n",
        "/* include */ #import <a.h>\n"}) {
    EXPECT_NE(closure(text).reads, Reads::text_only) << text;
  }
}

TEST_F(RunTimeClosureTest, BeginningOfALargeTextIsSelfContainedUnlessItNeedsExamination) {
  const std::string text(5000, '\n');
  EXPECT_TRUE(begins_self_contained(text));
  EXPECT_TRUE(begins_self_contained(text + "#include \"a.h\"\n"));
  EXPECT_FALSE(begins_self_contained("#include \"a.h\"\n" + text));
  EXPECT_FALSE(begins_self_contained("constant char t[] = __TIME__;\n" + text));
  EXPECT_FALSE(begins_self_contained("int a;\n")); // examined as fast
}

TEST_F(RunTimeClosureTest, SelfContainedTextHasTheObstaclesOfItsOptions) {
  for (const char* const options : {"", "-DA=1", "-DT=__TIME__", "-include a.h", "\"-D"}) {
    const source::BuildOptions parsed = source::parse_build_options(options);
    EXPECT_EQ(self_contained_closure(parsed).why_not_keyed, why_not("int a;\n", options));
    EXPECT_FALSE(self_contained_closure(parsed).package.has_value());
  }
}

TEST_F(RunTimeClosureTest, FindsHeadersInIncludeDirectoriesAndInTheWorkingDirectory) {
  write("inc/a.h", "int a;\n");
  write("b.h", "int b;\n");
  write("c.h", "int c;\n");
  const RunTimeClosure found =
      closure("#include \"a.h\"\n#include \"b.h\"\n#include <c.h>\n", "-I inc");
  EXPECT_THAT(headers(found), ElementsAre("a.h: int a;\n", "b.h: int b;\n", "c.h: int c;\n"));
  EXPECT_EQ(found.why_not_keyed, "");
  EXPECT_EQ(found.reads, Reads::files);
}

TEST_F(RunTimeClosureTest, OnlyTheContentsOfHeadersMatterAndNotTheirDirectory) {
  write("one/a.h", "int a;\n");
  write("two/a.h", "int a;\n");
  write("other/a.h", "int b;\n");
  const std::string text = "#include \"a.h\"\n";
  EXPECT_EQ(digest(text, "-Ione"), digest(text, "-I two"));
  EXPECT_NE(digest(text, "-Ione"), digest(text, "-I other"));
}

TEST_F(RunTimeClosureTest, MissingHeaderIsNoObstacle) {
  EXPECT_EQ(why_not("#ifdef NEVER\n#include \"none.h\"\n#endif\n"), "");
  EXPECT_EQ(why_not("#if __has_include(\"none.h\")\n#endif\n"), "");
}

TEST_F(RunTimeClosureTest, ProbedHeaderIsPartOfThePackage) {
  write("a.h", "int a;\n");
  EXPECT_THAT(headers(closure("#if __has_include(\"a.h\")\n#endif\n")),
              ElementsAre("a.h: int a;\n"));
}

TEST_F(RunTimeClosureTest, MacroOfAnOptionNamesAHeader) {
  write("inc/a.h", "int a;\n");
  for (const char* options : {"-DH=<a.h> -Iinc", "-D H=\\\"a.h\\\" -Iinc"}) {
    const RunTimeClosure found = closure("#include H\n", options);
    EXPECT_THAT(headers(found), ElementsAre("a.h: int a;\n")) << options;
    EXPECT_EQ(found.why_not_keyed, "") << options;
  }
}

TEST_F(RunTimeClosureTest, MacroThatCannotBeResolvedIsAnObstacle) {
  EXPECT_EQ(why_not("\n\n#include HEADER\n"), "source:3: the header that macros name is not known");
  EXPECT_EQ(why_not("#if __has_include(HEADER)\n#endif\n"),
            "source:1: the header that macros name is not known");
}

TEST_F(RunTimeClosureTest, MacroThatALaterHeaderDefinesIsResolved) {
  write("names.h", "#define H \"a.h\"\n");
  write("a.h", "int a;\n");
  EXPECT_EQ(why_not("#include \"names.h\"\n#include H\n"), "");
}

TEST_F(RunTimeClosureTest, ClockMacrosAreObstaclesInEveryText) {
  write("a.h", "\nconstant char t[] = __TIME__;\n");
  EXPECT_EQ(why_not("constant char d[] = __DATE__;\n"),
            "source:1: __DATE__ changes with every build");
  EXPECT_EQ(why_not("#include \"a.h\"\n"), "a.h:2: __TIME__ changes with every build");
  EXPECT_EQ(why_not("constant char d[] = __TIMESTAMP__;\n"),
            "source:1: __TIMESTAMP__ is of a file");
}

TEST_F(RunTimeClosureTest, PipeIsNotRead) {
  ASSERT_EQ(::mkfifo("pipe.h", 0600), 0);
  EXPECT_EQ(why_not("\n#include \"pipe.h\"\n"),
            "source:2: 'pipe.h' is not a regular file: it is not read");
}

TEST_F(RunTimeClosureTest, HeaderInTwoPlacesWithDifferentContentsIsAnObstacle) {
  write("inc/a.h", "int a;\n");
  write("a.h", "int a;\n");
  EXPECT_EQ(why_not("#include \"a.h\"\n", "-Iinc"), "");
  write("a.h", "int b;\n");
  const std::string reason =
      "source:1: 'a.h' exists in two directories, and drivers differ in which one they read";
  EXPECT_EQ(why_not("#include <a.h>\n", "-Iinc"), reason);
  EXPECT_EQ(why_not("#include \"a.h\"\n", "-Iinc"), reason);
}

TEST_F(RunTimeClosureTest, HeaderBesideItsIncluderHasNoRival) {
  write("inc/a.h", "#include \"b.h\"\n");
  write("inc/b.h", "int inner;\n");
  write("b.h", "int outer;\n");
  const RunTimeClosure found = closure("#include \"a.h\"\n", "-Iinc");
  EXPECT_EQ(found.why_not_keyed, "");
  EXPECT_THAT(headers(found), ElementsAre("a.h: #include \"b.h\"\n", "b.h: int inner;\n"));
}

TEST_F(RunTimeClosureTest, NamedHeadersArePartOfThePackageEvenIfNotIncluded) {
  const RunTimeClosure found = closure("#include \"sub/a.h\"\n", {},
                                       {{"sub/a.h", "", "#include \"b.h\"\n"},
                                        {"sub/b.h", "", "int b;\n"},
                                        {"unused.h", "", "int u;\n"}});
  EXPECT_THAT(found.why_not_keyed, "");
  ASSERT_EQ(found.package.value().headers.size(), 3U);
  EXPECT_EQ(found.package.value().headers[1].include_name, "sub/b.h");
  EXPECT_EQ(found.package.value().headers[2].include_name, "unused.h");
  EXPECT_EQ(found.package.value().main.text, "#include \"sub/a.h\"\n");
}

TEST_F(RunTimeClosureTest, FileWithTheNameOfANamedHeaderIsAnObstacle) {
  const std::vector<format::SourceFile> named = {{"a.h", "", "int a;\n"}};
  write("a.h", "int a;\n");
  EXPECT_EQ(closure("#include \"a.h\"\n", {}, named).why_not_keyed, "");
  write("a.h", "int other;\n");
  EXPECT_EQ(closure("#include \"a.h\"\n", {}, named).why_not_keyed,
            "source:1: 'a.h' exists in two directories, and drivers differ in which one they read");
}

TEST_F(RunTimeClosureTest, SpellingsThatCompilersReadDifferentlyAreObstacles) {
  const std::string reason = "compilers may read this in different ways";
  EXPECT_EQ(why_not("%:include \"a.h\"\n"), "source:1: " + reason);
  EXPECT_EQ(why_not("\?\?=include \"a.h\"\n"), "source:1: " + reason);
  EXPECT_EQ(why_not("#inc\\\nlude \"a.h\"\n"), "source:1: " + reason);
  EXPECT_EQ(why_not("#include \"a.h\"\nconstant char s[] = R\"(/*)\";\n", "-cl-std=CLC++"),
            "source:2: " + reason);
  EXPECT_EQ(why_not("#include \"a.h\"\nconstant char s[] = \"R\";\n"), "");
  EXPECT_EQ(why_not("#define A(x) \\\n  x\n"), "");
  EXPECT_EQ(why_not("// 100 %: why \?\?/\nint __TILE__;\n"), "");
  EXPECT_EQ(why_not("constant char t[] = __TI\\\nME__;\n#include <none.h>\n"),
            "source:1: " + reason);
  EXPECT_EQ(why_not("constant char t[] = _\\\n_TIME__;\n"), "source:1: " + reason);
}

TEST_F(RunTimeClosureTest, FindsIncludesWhereverClangDoes) {
  write("a.h", "int a;\n");
  for (const char* const text :
       {"\xEF\xBB\xBF#include \"a.h\"\n", "#\finclude \"a.h\"\n", "\v#\vinclude \"a.h\"\n",
        "int b;\r#include \"a.h\"\r", "#\\\rinclude \"a.h\"\r", "#\\ \r\ninclude \"a.h\"\r\n"}) {
    const RunTimeClosure found = closure(text);
    EXPECT_EQ(found.why_not_keyed, "") << text;
    ASSERT_EQ(found.package.value().headers.size(), 1U) << text;
    EXPECT_EQ(found.package.value().headers[0].text, "int a;\n") << text;
  }
}

TEST_F(RunTimeClosureTest, LineContinuationsHideNoSpelling) {
  const std::string reason = "source:1: compilers may read this in different ways";
  EXPECT_EQ(why_not("%\\\n:include \"a.h\"\n"), reason);
  EXPECT_EQ(why_not("%\\ \r:include \"a.h\"\r"), reason);
  EXPECT_EQ(why_not("constant char t[] = __TI\\\rME__;\r#include <none.h>\r"), reason);
  EXPECT_EQ(why_not("int a = 7 %\\\n3;\n#define X a\\\n\nint b;\n"), "");
  write("a.h", "int a;\n");
  for (const char* const text :
       {"%\\\n\\\n:include \"a.h\"\n", "#inc\\\n\\\nlude \"a.h\"\n", "#inc\\\n\rlude \"a.h\"\n",
        "#inc\?\?/\nlude \"a.h\"\n", "#inc\?\?/ \n\\\nlude \"a.h\"\n",
        "constant char t[] = __TI\\\n\\\nME__;\n", "constant char t[] = __TI\\\n\rME__;\n",
        "constant char t[] = __TI\?\?/\nME__;\n"}) {
    EXPECT_EQ(why_not(text), reason) << text;
  }
}

TEST_F(RunTimeClosureTest, EmbeddedFilesAreObstacles) {
  EXPECT_EQ(why_not("#embed \"data\"\n"), "source:1: #embed reads a file");
  EXPECT_EQ(why_not("int a;\n#  embed \"data\"\n"), "source:2: #embed reads a file");
  EXPECT_EQ(why_not("int a;\r#\\\n\\\nembed \"data\"\n"), "source:2: #embed reads a file");
  EXPECT_EQ(why_not("#/* */embed \"data\"\n"), "source:1: #embed reads a file");
  EXPECT_EQ(why_not("// #embed \"data\"\n"), "");
  EXPECT_EQ(why_not("#if __has_embed(\"data\")\n#endif\n"), "source:1: it looks for a file");
}

TEST_F(RunTimeClosureTest, OptionThatReadsAFileIsAnObstacle) {
  EXPECT_EQ(why_not("int a;\n", "-include a.h"), "the build option '-include' can read a file");
}

TEST_F(RunTimeClosureTest, DefinitionsThatStandForATimeOrATestOfAFileAreObstacles) {
  EXPECT_EQ(why_not("constant char t[] = T;\n", "-DT=__TIME__"),
            "the build option '-DT=__TIME__' contains __TIME__");
  EXPECT_EQ(why_not("#if HAS(\"a.h\")\n#endif\n", "-DX=1 -D HAS=__has_include"),
            "the build option '-DHAS=__has_include' contains __has_");
}

TEST_F(RunTimeClosureTest, PathOfAHeaderIsAnObstacle) {
  write("h.h", "constant char p[] = __FILE__;\n");
  EXPECT_EQ(why_not("#include \"h.h\"\n", "-I ."), "h.h:1: __FILE__ depends on the -I directories");
}

TEST_F(RunTimeClosureTest, ZeroByteIsAnObstacle) {
  EXPECT_EQ(why_not(std::string("int a;\n\0int b;\n", 15)), "source:2: it contains a zero byte");
}

TEST_F(RunTimeClosureTest, RecordedPackageHasTheObstaclesOfItsTextsAndOptions) {
  const auto of_package = [](const std::string& text, const std::string& options,
                             std::vector<format::SourceFile> headers) {
    format::SourcePackage package = package_of_text(text);
    package.headers = std::move(headers);
    return why_package_is_not_keyed(package, source::parse_build_options(options));
  };
  EXPECT_EQ(of_package("int a;\n", "-DA=1", {}), "");
  EXPECT_EQ(of_package(std::string("int a;\n\0int b;\n", 15), "", {}),
            "source:2: it contains a zero byte");
  EXPECT_EQ(of_package("#include \"a.h\"\n", "", {{"a.h", "a.h", "int t = __LINE__;\n"}}), "");
  EXPECT_EQ(
      of_package("#include \"a.h\"\n", "", {{"a.h", "a.h", "constant char t[] = __TIME__;\n"}}),
      "a.h:1: __TIME__ changes with every build");
  EXPECT_EQ(of_package("int a;\n", "-include a.h", {}),
            "the build option '-include' can read a file");
}

} // namespace
} // namespace clbin::closure
