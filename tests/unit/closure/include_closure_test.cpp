#include "base/file_io.hpp"
#include "closure/include_closure.hpp"
#include "closure/macro_options.hpp"
#include "support/texts.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace clbin::closure {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using test::repeated;
using testing::ElementsAre;
using testing::IsEmpty;

// Each test runs in a new folder, and uses paths as a user would write them.
class IncludeClosureTest : public testing::Test {
protected:
  void SetUp() override {
    m_before = fs::current_path();
    auto folder = base::TemporaryFolder::create({}, "include_closure_test");
    ASSERT_TRUE(folder);
    m_folder.emplace(std::move(*folder));
    fs::current_path(m_folder->path());
  }
  void TearDown() override { fs::current_path(m_before); }

  static void write(const fs::path& path, const std::string& text) { test::write_text(path, text); }

  static IncludeClosure closure(const fs::path& main_file, const IncludeSearch& search = {}) {
    auto result = find_include_closure(main_file, search);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? *result : IncludeClosure();
  }

  static std::string refused(const fs::path& main_file, const IncludeSearch& search = {}) {
    const auto result = find_include_closure(main_file, search);
    EXPECT_FALSE(result);
    return result ? "accepted" : result.error().message;
  }

  // Returns "name (path): text" of every header.
  static std::vector<std::string> headers(const IncludeClosure& closure) {
    std::vector<std::string> result;
    for (const auto& header : closure.package.headers) {
      result.push_back(header.include_name + " (" + header.display_name + "): " + header.text);
    }
    return result;
  }

private:
  fs::path m_before;
  std::optional<base::TemporaryFolder> m_folder;
};

TEST_F(IncludeClosureTest, OfAFileAloneIsThatFile) {
  write("src/k.cl", "kernel void k() {}\n");
  const IncludeClosure found = closure("src/k.cl");
  EXPECT_EQ(found.package.main.include_name, "k.cl");
  EXPECT_EQ(found.package.main.display_name, "src/k.cl");
  EXPECT_EQ(found.package.main.text, "kernel void k() {}\n");
  EXPECT_THAT(found.package.headers, IsEmpty());
  EXPECT_THAT(found.files, ElementsAre("src/k.cl"));
}

TEST_F(IncludeClosureTest, LooksBesideTheIncludingFileThenInFoldersInOrder) {
  write("src/k.cl", "#include \"sub/a.h\"\n#include \"c.h\"\n#include <a.h>\n");
  write("src/sub/a.h", "#include \"b.h\"\n#include \"c.h\"\n");
  write("src/sub/b.h", "b beside\n");
  write("one/b.h", "b in one\n");
  write("one/c.h", "c in one\n");
  write("two/c.h", "c in two\n");
  write("two/a.h", "a in two\n");
  const IncludeClosure found = closure("src/k.cl", {{"one", "two"}, {}, {}, {}});
  EXPECT_THAT(found.files,
              ElementsAre("src/k.cl", "src/sub/a.h", "one/c.h", "two/a.h", "src/sub/b.h"));
  EXPECT_EQ(found.package.main.text, "#include \"sub/a.h\"\n#include \"c.h\"\n#include \"a.h\"\n");
}

TEST_F(IncludeClosureTest, RewritesAngledNamesForRusticl) {
  write("k.cl", "#include <a.h> // comment\n#if __has_include(<a.h>)\n#endif\n");
  write("inc/a.h", "a\n");
  EXPECT_EQ(closure("k.cl", {{"inc"}, {}, {}, {}}).package.main.text,
            "#include \"a.h\" // comment\n#if __has_include(\"a.h\")\n#endif\n");
}

TEST_F(IncludeClosureTest, TellsFilesOfOneNameApart) {
  write("k.cl", "#include \"x/n.h\"\n#include \"y/n.h\"\n");
  write("x/n.h", "#include \"m.h\"\n");
  write("y/n.h", "#include \"m.h\"\n");
  write("x/m.h", "x\n");
  write("y/m.h", "y\n");
  EXPECT_THAT(headers(closure("k.cl")), ElementsAre("x/n.h (x/n.h): #include \"m.h\"\n",
                                                    "y/n.h (y/n.h): #include \"m~2.h\"\n",
                                                    "m.h (x/m.h): x\n", "m~2.h (y/m.h): y\n"));
}

TEST_F(IncludeClosureTest, KeepsACompilerFromFindingAnotherHeaderBesideTheFile) {
  // From x/n.h, "m.h" means x/m.h. This name already belongs to the "m.h" of k.cl.
  write("k.cl", "#include \"m.h\"\n#include \"x/n.h\"\n#include \"x/y/m.h\"\n");
  write("m.h", "top\n");
  write("x/n.h", "#include \"../m.h\"\n#include \"y/m.h\"\n");
  write("x/y/m.h", "deep\n");
  write("x/m.h", "beside\n");
  write("x/z.h", "#include \"m.h\"\n");
  const IncludeClosure plain = closure("k.cl");
  EXPECT_EQ(plain.package.headers[1].text, "#include \"m.h\"\n#include \"x/y/m.h\"\n");
  write("k.cl", "#include \"x/m.h\"\n#include \"x/n.h\"\n#include \"m.h\"\n");
  EXPECT_THAT(headers(closure("k.cl")),
              ElementsAre("m.h (x/m.h): beside\n",
                          "n.h (x/n.h): #include \"m~2.h\"\n#include \"m~3.h\"\n",
                          "m~2.h (m.h): top\n", "m~3.h (x/y/m.h): deep\n"));
}

TEST_F(IncludeClosureTest, NeedsNoFolderOfTheBuildMachine) {
  write("a/k.cl", "#include \"../up.h\"\n#include \"" + fs::current_path().string() +
                      "/abs.h\"\n#include \"./s/../dot.h\"\n");
  write("up.h", "up\n");
  write("abs.h", "abs\n");
  write("a/dot.h", "dot\n");
  fs::create_directories("a/s");
  const IncludeClosure found = closure("a/k.cl");
  EXPECT_EQ(found.package.main.text, "#include \"up.h\"\n#include \"abs.h\"\n#include \"dot.h\"\n");
}

TEST_F(IncludeClosureTest, IsTheSameInAnotherFolder) {
  for (const char* const folder : {"one", "another/folder"}) {
    write(fs::path(folder) / "k.cl", "#include \"x/n.h\"\n#include \"../up.h\"\n");
    write(fs::path(folder) / "x/n.h", "#include <g.h>\n");
    write(fs::path(folder) / "inc/g.h", "g\n");
    write(fs::path(folder).parent_path() / "up.h", "up\n");
  }
  const fs::path top = fs::current_path();
  fs::current_path(top / "one");
  const auto first = closure("k.cl", {{"inc"}, {}, {}, {}}).package;
  fs::current_path(top / "another/folder");
  EXPECT_EQ(first, closure("k.cl", {{"inc"}, {}, {}, {}}).package);
}

TEST_F(IncludeClosureTest, LeavesNoPathInWhatABundleCarries) {
  write("some/k.cl", "#include \"x/n.h\"\n");
  write("some/x/n.h", "n\n");
  write("f.h", "f\n");
  const fs::path here = fs::current_path();
  for (const fs::path& folder : {fs::path("some"), here / "some"}) {
    const auto package =
        without_paths(closure(folder / "k.cl", {{}, {here / "f.h"}, {}, {}}).package);
    EXPECT_EQ(package.main.display_name, "k.cl");
    EXPECT_EQ(package.main.text, "#include \"f.h\"\n#include \"k.cl\"\n");
    ASSERT_EQ(package.headers.size(), 3U);
    EXPECT_EQ(package.headers[0].display_name, "k.cl");
    EXPECT_EQ(package.headers[1].display_name, "f.h");
    EXPECT_EQ(package.headers[2].display_name, "x/n.h");
  }
}

TEST_F(IncludeClosureTest, TakesCyclesAndFilesThatIncludeThemselves) {
  write("k.cl", "#include \"a.h\"\n");
  write("a.h", "#pragma once\n#include \"b.h\"\n");
  write("b.h", "#include \"a.h\"\n#include \"k.cl\"\n#include __FILE__\n");
  EXPECT_THAT(headers(closure("k.cl")),
              ElementsAre("k.cl (k.cl): #include \"a.h\"\n",
                          "a.h (a.h): #pragma once\n#include \"b.h\"\n",
                          "b.h (b.h): #include \"a.h\"\n#include \"k.cl\"\n#include \"b.h\"\n"));
}

TEST_F(IncludeClosureTest, LeavesAMissingHeaderToTheCompiler) {
  write("k.cl", "#if 0\n#include \"missing.h\"\n#endif\n#include <opencl-c.h>\n");
  fs::create_directories("missing.h"); // a folder is not a header
  const IncludeClosure found = closure("k.cl");
  EXPECT_EQ(found.package.main.text,
            "#if 0\n#include \"missing.h\"\n#endif\n#include <opencl-c.h>\n");
  EXPECT_THAT(found.files, ElementsAre("k.cl"));
}

TEST_F(IncludeClosureTest, FollowsMacros) {
  write("k.cl", "#define H1 H2\n#include \"defs.h\"\n#include H1\n#include H3\n#include NONE\n");
  write("defs.h", "#define H2 \"a.h\"\n");
  write("a.h", "a\n");
  write("inc/b.h", "b\n");
  const IncludeClosure found = closure("k.cl", {{"inc"}, {}, {"-DH3=<b.h>"}, {}});
  EXPECT_EQ(found.package.main.text, "#define H1 H2\n#include \"defs.h\"\n#include \"a.h\"\n"
                                     "#include \"b.h\"\n#include NONE\n");
  EXPECT_EQ(found.package.headers.size(), 3U);
}

TEST_F(IncludeClosureTest, FollowsMacrosOfVariantsWithoutFixingTheirMeaning) {
  write("k.cl", "#include H\n");
  write("a.h", "a\n");
  write("b.h", "b\n");
  const IncludeClosure found = closure("k.cl", {{}, {}, {}, {"-DH=\"a.h\"", "-DH=\"b.h\""}});
  const std::vector<std::string> first = driver_options_of({}, {"-DH=\"a.h\""});
  const std::vector<std::string> second = driver_options_of({}, {"-DH=\"b.h\""});
  ASSERT_EQ(first.size(), 1U);
  EXPECT_THAT(first.front(), testing::ContainsRegex("^-DOCLCC_OPTION_[0-9a-f]+$"));
  EXPECT_NE(first, second);
  EXPECT_EQ(
      found.package.main.text,
      fmt::format("#ifdef {}\n#define H \"a.h\"\n#endif\n#ifdef {}\n#define H \"b.h\"\n#endif\n"
                  "#include \"k.cl\"\n",
                  first.front().substr(2), second.front().substr(2)));
  EXPECT_THAT(headers(found),
              ElementsAre("k.cl (k.cl): #include H\n", "a.h (a.h): a\n", "b.h (b.h): b\n"));
}

TEST_F(IncludeClosureTest, RewritesTheDefinitionsOfAMacroWithSeveralMeanings) {
  write("k.cl", "#ifdef X\n#define H <a.h>\n#else\n#define H \"none.h\"\n#endif\n#include H\n");
  write("inc/a.h", "a\n");
  EXPECT_EQ(closure("k.cl", {{"inc"}, {}, {}, {}}).package.main.text,
            "#ifdef X\n#define H \"a.h\"\n#else\n#define H \"none.h\"\n#endif\n#include H\n");
}

TEST_F(IncludeClosureTest, FollowsMacrosWithArguments) {
  write("k.cl", "#include M2S(DIR/a.h)\n#define ONE M2S(DIR/one.h)\n#include ONE\n");
  write("lib/a.h", "#define DIR2 lib\n");
  write("lib/one.h", "one\n");
  const IncludeClosure found =
      closure("k.cl", {{}, {}, {"-DXM2S(x)=#x", "-DM2S(x)=XM2S(x)", "-DDIR=lib"}, {}});
  EXPECT_EQ(found.package.main.text,
            "#include \"lib/a.h\"\n#define ONE M2S(DIR/one.h)\n#include \"lib/one.h\"\n");
  EXPECT_EQ(found.package.headers.size(), 2U);
}

TEST_F(IncludeClosureTest, RewritesDefinitionsThatSpellOneHeaderThroughOtherMacros) {
  write("k.cl", "#define S(x) #x\n#ifdef X\n#define H S(inc/a.h)\n#else\n#define H S(inc/b.h)\n"
                "#endif\n#include H\n");
  write("src/inc/a.h", "a\n");
  write("src/inc/b.h", "b\n");
  EXPECT_EQ(closure("k.cl", {{"src"}, {}, {}, {}}).package.main.text,
            "#define S(x) #x\n#ifdef X\n#define H \"inc/a.h\"\n#else\n#define H \"inc/b.h\"\n"
            "#endif\n#include H\n");
}

TEST_F(IncludeClosureTest, LooksBehindTheOwnFolderForTheNextHeader) {
  write("k.cl", "#include <a.h>\n#include_next \"b.h\"\n");
  write("one/a.h", "#if __has_include_next(<a.h>)\n#include_next <a.h>\n#endif\n");
  write("two/a.h", "#include \\\n_next <a.h>\n#include_\\\nnext <a.h>\n");
  write("three/a.h", "#include_next <a.h>\n");
  write("two/b.h", "b\n");
  const IncludeClosure found = closure("k.cl", {{"one", "two", "three"}, {}, {}, {}});
  EXPECT_EQ(found.package.main.text, "#include \"a.h\"\n#include \"b.h\"\n");
  EXPECT_THAT(
      headers(found),
      ElementsAre("a.h (one/a.h): #if __has_include(\"a~2.h\")\n#include \"a~2.h\"\n#endif\n",
                  "b.h (two/b.h): b\n",
                  "a~2.h (two/a.h): #include \\\n_next <a.h>\n#include\\\n \"a~3.h\"\n",
                  "a~3.h (three/a.h): #include_next <a.h>\n"));
}

TEST_F(IncludeClosureTest, ReadsNoPipeAndNoDevice) {
  write("k.cl", "int x;\n  #include \"pipe.h\"\n#include </dev/null>\n#include \"/dev\"\n");
  ASSERT_EQ(::mkfifo("pipe.h", 0600), 0);
  const IncludeClosure found = closure("k.cl");
  EXPECT_EQ(found.package.main.text,
            "int x;\n  #include \"pipe.h\"\n#include \"dev/null\"\n#include \"/dev\"\n");
  ASSERT_EQ(found.warnings.size(), 2U);
  const IncludeWarning& warning = found.warnings.front();
  EXPECT_EQ(warning.file, "k.cl");
  EXPECT_EQ(warning.line, 2U);
  EXPECT_EQ(warning.column, 12U);
  EXPECT_EQ(warning.text, "'pipe.h' is not a regular file: it is not read");
  EXPECT_EQ(warning.source_line, "  #include \"pipe.h\"");
  EXPECT_EQ(found.warnings.back().text, "'/dev/null' is not a regular file: it is not read");
}

TEST_F(IncludeClosureTest, LeavesAHeaderThatCannotBeReadToTheBranchThatNamesIt) {
  write("one/a.h", std::string("a\0b", 3));
  write("two/a.h", "never found, as in gcc\n");
  write("k.cl", "#if 0\n#include <a.h>\n#include <a.h>\n#endif\n");
  const IncludeClosure found = closure("k.cl", {{"one", "two"}, {}, {}, {}});
  EXPECT_THAT(found.package.headers, IsEmpty());
  EXPECT_THAT(found.files, ElementsAre("k.cl"));
  ASSERT_EQ(found.warnings.size(), 2U);
  EXPECT_EQ(found.warnings.front().text,
            "'one/a.h' is not source text: it contains a zero byte at offset 1");
  EXPECT_EQ(found.warnings.front().line, 2U);
  EXPECT_EQ(found.warnings.back().line, 3U);
}

TEST_F(IncludeClosureTest, FindsAbsolutePathsAndThoseOutsideTheFolders) {
  const std::string folder = fs::current_path().string();
  write("src/k.cl", "#include \"" + folder +
                        "/other/a.h\"\n#include \"../other/b.h\"\n"
                        "#include \"/no/such/header.h\"\n");
  write("other/a.h", "a\n");
  write("other/b.h", "b\n");
  EXPECT_EQ(closure("src/k.cl", {{"src"}, {}, {}, {}}).package.main.text,
            "#include \"a.h\"\n#include \"b.h\"\n#include \"/no/such/header.h\"\n");
}

TEST_F(IncludeClosureTest, EndsOnMacrosThatNameEachOther) {
  write("k.cl", "#define A B\n#define B A\n#include A\n#include C\n#define C C\n");
  EXPECT_THAT(closure("k.cl").package.headers, IsEmpty());
}

TEST_F(IncludeClosureTest, EndsOnMacrosThatFanOut) {
  std::string text = "#include M0\n";
  for (int i = 0; i < 64; ++i) {
    text += fmt::format("#define M{0} M{1}\n#define M{0} N{1}\n#define N{0} M{1}\n"
                        "#define N{0} N{1}\n",
                        i, i + 1);
  }
  write("k.cl", text + "#define M64 \"a.h\"\n");
  write("a.h", "a\n");
  EXPECT_EQ(closure("k.cl").package.headers.size(), 1U);
}

// 8 KB of these once took two minutes and gigabytes.
TEST_F(IncludeClosureTest, WarnsOfMacrosThatAreTooLongToExpand) {
  for (const int size : {1, 2, 4}) {
    const std::string bomb = "#define F(x) " + repeated("x##1 ", 400 * size) + "\n";
    const std::string call = repeated("F(", 20 * size) + "y" + repeated(")", 20 * size);
    std::string lines;
    for (int i = 0; i < 500 * size; ++i) {
      lines +=
          "#include " + call + std::to_string(i) + "\n#if __has_include(" + call + ")\n#endif\n";
    }
    write("k.cl", bomb + "#include \"a.h\"\n" + lines);
    write("a.h", "a\n");
    const IncludeClosure found = closure("k.cl", {{}, {}, {"-DF(x)=x##2 x##2", "-Dy=z"}, {}});
    ASSERT_EQ(found.package.headers.size(), 2U); // k.cl itself is one, because of the options
    EXPECT_EQ(found.package.headers.back().include_name, "a.h");
    ASSERT_EQ(found.warnings.size(), 1U);
    EXPECT_EQ(found.warnings.front().text,
              "the macros of this #include are too long to expand: headers that it names may be "
              "missing from the bundle");
    EXPECT_EQ(found.warnings.front().line, 3U);
  }
}

TEST_F(IncludeClosureTest, TakesEachFileOnceHoweverOftenItIsIncluded) {
  // A chain of headers whose last step a compiler reads 2^200 times, and a header that includes
  // itself while a macro changes.
  write("k.cl", "#define N 0\n#include \"step0.h\"\n#include \"self.h\"\n");
  for (int i = 0; i < 200; ++i) {
    const std::string next = "#include \"step" + std::to_string(i + 1) + ".h\"\n";
    write("step" + std::to_string(i) + ".h", next + next);
  }
  write("step200.h", "end\n");
  write("self.h", "#if N < 1000\n#define SELF \"self.h\"\n#include SELF\n#endif\n");
  EXPECT_EQ(closure("k.cl").package.headers.size(), 202U);
}

TEST_F(IncludeClosureTest, NamesManyHeadersOfOneNameInLinearTime) {
  std::vector<std::string> spellings = {""};
  for (int i = 0; i < 9999; ++i) {
    spellings.push_back("../" + std::to_string(i) + "/x.h");
  }
  EXPECT_EQ(choose_include_names(spellings, {}).back(), "x~9999.h");
}

TEST_F(IncludeClosureTest, KeepsLineNumbersWhereANameIsBroken) {
  write("k.cl", "#include <a\\\n.h>\nint x;\n");
  write("inc/a.h", "a\n");
  EXPECT_EQ(closure("k.cl", {{"inc"}, {}, {}, {}}).package.main.text,
            "#include \"a.h\"\\\n\nint x;\n");
}

TEST_F(IncludeClosureTest, PutsForcedIncludesBeforeTheMainFile) {
  write("d/k.cl", "int x = F + G;\n");
  write("f.h", "#define F 1\n#include \"more.h\"\n");
  write("more.h", "more\n");
  write("inc/g.h", "#define G 1\n");
  const IncludeClosure found = closure("d/k.cl", {{"inc"}, {"f.h", "g.h"}, {}, {}});
  EXPECT_EQ(found.package.main.include_name, "<command line>");
  EXPECT_EQ(found.package.main.display_name, "d/k.cl");
  EXPECT_EQ(found.package.main.text, "#include \"f.h\"\n#include \"g.h\"\n#include \"k.cl\"\n");
  EXPECT_THAT(headers(found),
              ElementsAre("k.cl (d/k.cl): int x = F + G;\n",
                          "f.h (f.h): #define F 1\n#include \"more.h\"\n",
                          "g.h (inc/g.h): #define G 1\n", "more.h (more.h): more\n"));
  EXPECT_THAT(found.files, ElementsAre("d/k.cl", "f.h", "inc/g.h", "more.h"));
}

TEST_F(IncludeClosureTest, MovesMacrosThatNoQuotingCarries) {
  write("k.cl", "int x = A;\n");
  const IncludeClosure found =
      closure("k.cl", {{}, {}, {"-DB=1", "-DA=1 + 2", "-DS=\"s\"", "-DF(a, b)=a"}, {}});
  EXPECT_EQ(found.package.main.text,
            "#define A 1 + 2\n#define S \"s\"\n#define F(a, b) a\n#include \"k.cl\"\n");
}

TEST_F(IncludeClosureTest, DropsAByteOrderMark) {
  write("k.cl", "\xEF\xBB\xBFint x;\n");
  EXPECT_EQ(closure("k.cl").package.main.text, "int x;\n");
}

TEST_F(IncludeClosureTest, NeverNamesAHeaderAsDriversNameTheMainFile) {
  write("k.cl", "#include \"input.cl\"\n");
  write("input.cl", "x\n");
  EXPECT_EQ(closure("k.cl").package.main.text, "#include \"input~2.cl\"\n");
}

TEST_F(IncludeClosureTest, RefusesWhatIsNoSource) {
  EXPECT_EQ(refused("none.cl"), "cannot open 'none.cl': No such file or directory");
  write("empty.cl", "");
  EXPECT_EQ(refused("empty.cl"), "'empty.cl' is empty");
  write("binary.cl", std::string("\x7f"
                                 "ELF\x02\x00",
                                 6));
  EXPECT_EQ(refused("binary.cl"),
            "'binary.cl' is not source text: it contains a zero byte at offset 5");
  write("key", "untrusted comment: made by hand\nAAAA\n");
  EXPECT_EQ(refused("key"), "'key' is not source text: it is a damaged file of keys");
  write("k.cl", "int x;\n");
  EXPECT_EQ(refused("k.cl", {{}, {"key"}, {}, {}}),
            "'key' is not source text: it is a damaged file of keys");
  EXPECT_EQ(refused("k.cl", {{}, {"binary.cl"}, {}, {}}),
            "'binary.cl' is not source text: it contains a zero byte at offset 5");
  EXPECT_EQ(refused("k.cl", {{}, {"none.h"}, {}, {}}),
            "cannot open 'none.h', which '-include' names: No such file or directory");
  const auto result = find_include_closure("none.cl", {});
  EXPECT_EQ(result.error().code, ErrorCode::file_not_found);
}

TEST(MacroOptions, KeepTheOrderOfWhatDriversGet) {
  EXPECT_THAT(driver_options_of({{}, {}, {"-DA", "-DB=x y", "-UC", "-cl-std=CL3.0"}, {}}, {}),
              ElementsAre("-DA", "-cl-std=CL3.0"));
}

TEST(MacroOptions, LetTheLastOptionWin) {
  const auto undone = split_macro_options({"-DA=1 2", "-UA"}, {});
  EXPECT_THAT(undone.kept, IsEmpty());
  EXPECT_THAT(undone.lines, ElementsAre("#undef A"));
  const auto redone = split_macro_options({"-DA=1", "-UA", "-DA=1 2", "-DAB", "-DAB=2"}, {});
  EXPECT_THAT(redone.kept, ElementsAre("-DAB=2"));
  EXPECT_THAT(redone.lines, ElementsAre("#define A 1 2"));
}

TEST_F(IncludeClosureTest, FindsItsOwnHeadersIfNoFileIs) {
  IncludeSearch search;
  search.folders = {"."};
  search.own_headers.emplace("own/a.h", "int own;\n");
  write("m.cl", "#include <own/a.h>\n#include \"own/a.h\"\nint x;\n");
  const IncludeClosure own = closure("m.cl", search);
  ASSERT_EQ(own.package.headers.size(), 1U); // both mean the same
  EXPECT_EQ(own.package.headers[0].include_name, "own/a.h");
  EXPECT_EQ(own.package.headers[0].text, "int own;\n");
  EXPECT_THAT(own.files, ElementsAre("m.cl")); // no file, on which a build would depend
  search.forced_includes = {"own/a.h"};
  EXPECT_EQ(closure("m.cl", search).package.headers.size(), 2U); // and the main file
  write("own/a.h", "int file;\n");
  search.forced_includes.clear();
  const IncludeClosure file = closure("m.cl", search);
  EXPECT_EQ(file.package.headers[0].text, "int file;\n");
}

TEST(MacroOptions, LetVariantsHaveTheLastWord) {
  const IncludeSearch search{
      {}, {}, {"-DA=1 2", "-DB=1", "-UC", "-DD"}, {"-UA", "-DB=2", "-DC=3", "-UE"}};
  const auto selector = [](const char* option) {
    return "-D" + lines_behind_selector(option)->selector;
  };
  EXPECT_THAT(driver_options_of(search, {"-UA"}), ElementsAre("-DB=1", selector("-UC"), "-DD"));
  EXPECT_THAT(driver_options_of(search, {"-DB=2", "-DC=3"}),
              ElementsAre(selector("-DA=1 2"), "-DD", "-DB=2", "-DC=3"));
  EXPECT_THAT(driver_options_of(search, {"-UE"}),
              ElementsAre(selector("-DA=1 2"), "-DB=1", selector("-UC"), "-DD", selector("-UE")));
}

TEST(MacroOptions, StandBehindASelectorWhereNoDriverTakesThem) {
  EXPECT_FALSE(lines_behind_selector("-DA=1"));
  EXPECT_FALSE(lines_behind_selector("-cl-std=CL1.2"));
  const auto undefined = lines_behind_selector("-UA");
  ASSERT_TRUE(undefined);
  EXPECT_THAT(undefined->lines, ElementsAre("#ifdef " + undefined->selector, "#undef A", "#endif"));
}

} // namespace
} // namespace clbin::closure
