#include "source/recorded_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::source {
namespace {

using format::SourceFile;
using format::SourcePackage;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string normalized_options(std::string_view options) {
  return parse_build_options(options).normalized;
}

SourcePackage named_package(std::string text, std::vector<SourceFile> headers = {}) {
  return {{"k.cl", "/home/a/k.cl", std::move(text)}, std::move(headers)};
}

// The value is a promise: bundles and caches on disk contain such names.
TEST(RecordedNames, NameOfAProgramIsTheDigestOfItsSource) {
  EXPECT_EQ(base::to_hex(source_digest(named_package("kernel void k() {}\n"))),
            "11c9280074634251921fe1cec87bc9a21d828b418f6e65c369a6b8f19fb5eff7");
  EXPECT_EQ(base::to_hex(
                source_digest(named_package("#include \"a.h\"\n", {{"a.h", "a.h", "int a;\n"}}))),
            "664d915ca420d2025f973ab8a19899f01e4eb419176e6408688c4c560e48894a");
}

TEST(RecordedNames, NameOfIlIsNotThatOfSourceWithTheSameBytes) {
  const std::string text = "kernel void k() {}\n";
  const base::Digest il = il_digest(base::as_bytes(text));
  EXPECT_NE(il, source_digest(named_package(text)));
  EXPECT_EQ(base::to_hex(il), "867d074ebb814130be8fdb52d897128deac64dffa8eaab14e354226a1cdf3a47");
}

TEST(RecordedNames, NamesOfFilesDoNotMatter) {
  const SourcePackage other{{"m.cl", "/tmp/m.cl", "#include \"a.h\"\n"},
                            {{"a.h", "/tmp/a.h", "int a;\n"}}};
  EXPECT_EQ(source_digest(other),
            source_digest(named_package("#include \"a.h\"\n", {{"a.h", "a.h", "int a;\n"}})));
}

TEST(RecordedNames, EveryTextAndEveryIncludeNameMatters) {
  const auto digest = [](std::string name, std::string text) {
    return source_digest(named_package("m", {{std::move(name), "", std::move(text)}}));
  };
  EXPECT_NE(digest("a.h", "x"), digest("b.h", "x"));
  EXPECT_NE(digest("a.h", "x"), digest("a.h", "y"));
  EXPECT_NE(digest("a.h", "x"), digest("a.hx", ""));
  EXPECT_NE(digest("", ""), source_digest(named_package("m")));
}

TEST(RecordedNames, ZeroBytesAtTheEndAreNotPartOfATextAndOthersAre) {
  using namespace std::string_view_literals;
  EXPECT_EQ(without_final_zeros("int a;\n\0\0"sv), "int a;\n");
  EXPECT_EQ(without_final_zeros("a\0b\0"sv), "a\0b"sv);
  EXPECT_EQ(without_final_zeros("\0"sv), "");
  EXPECT_EQ(without_final_zeros(""), "");
}

TEST(RecordedNames, FirstKernelIsFoundBehindItsAttributesAndNotInCommentsOrDirectives) {
  EXPECT_EQ(first_kernel_name("int f(int a) { return a; }\nkernel void scale(global int* a) {}\n"
                              "kernel void fill() {}\n"),
            "scale");
  EXPECT_EQ(first_kernel_name("__kernel __attribute__((reqd_work_group_size(N, (1), 1)))\n"
                              "void\nscale /* of it */ (global int* a) {}\n"),
            "scale");
  EXPECT_EQ(first_kernel_name("// kernel void one() {}\n/* kernel void two() {} */\n"
                              "#define K kernel \\\n void three() {}\nkernel void four() {}\n"),
            "four");
  EXPECT_EQ(first_kernel_name("#if A\n__kernel\n#else\n__kernel __attribute__((x))\n#endif\n"
                              "void scale() {}\n"),
            "scale");
  EXPECT_EQ(first_kernel_name("/*/ kernel void one() {} */ kernel void two() {}"), "two");
  EXPECT_EQ(first_kernel_name("int n = sizeof(\"kernel void one() {}\"); kernel void two() {}"),
            "two");
  EXPECT_EQ(first_kernel_name("int kernel = 3;\nint my_kernel(int kernel);\n"
                              "kernel void scale() {}\n"),
            "scale");
  for (const char* const none : {"", "kernel", "kernel void", "kernel void f", "int f() {}\n",
                                 "kernel __attribute__((", "/* kernel void f() {}", "kernel ("}) {
    EXPECT_EQ(first_kernel_name(none), "") << none;
  }
}

TEST(RecordedNames, WordsAreJoinedByOneSpace) {
  EXPECT_EQ(normalized_options("  -DA=1   -cl-mad-enable "), "-DA=1 -cl-mad-enable");
  EXPECT_EQ(normalized_options("   "), "");
}

TEST(RecordedNames, IncludeDirectoriesAreNotPartOfTheOptions) {
  const BuildOptions options =
      parse_build_options("-I /usr/share/a -DA -I/opt/b -I \"/with space/c\" \"-I/d e\" -w");
  EXPECT_EQ(options.normalized, "-DA -w");
  EXPECT_THAT(options.include_folders,
              ElementsAre("/usr/share/a", "/opt/b", "/with space/c", "/d e"));
  EXPECT_EQ(options.why_not_closed, "");
}

TEST(RecordedNames, ValuesKeepTheirWhiteSpace) {
  EXPECT_EQ(normalized_options("-DA=\"b  -I c\"  -w"), "-DA=\"b  -I c\" -w");
  EXPECT_EQ(normalized_options("-DA='b \" c'  -w"), "-DA='b \" c' -w");
  EXPECT_EQ(normalized_options("-DA=\\\"b\\\"  -w"), "-DA=\\\"b\\\" -w");
  EXPECT_EQ(normalized_options("-DA=1\t2  -w"), "-DA=1\t2 -w");
}

TEST(RecordedNames, WordAfterASeparateDefineIsItsValue) {
  const BuildOptions options = parse_build_options("-D -Ix -D -include -U @a -D I");
  EXPECT_EQ(options.normalized, "-D -Ix -D -include -U @a -D I");
  EXPECT_THAT(options.include_folders, IsEmpty());
  EXPECT_EQ(options.why_not_closed, "");
}

TEST(RecordedNames, IncludeDirectoryWithoutAValueStays) {
  EXPECT_EQ(normalized_options("-w -I"), "-w -I");
}

TEST(RecordedNames, OptionsWithAnUnterminatedQuoteStayWhole) {
  const BuildOptions options = parse_build_options("-DA=\"b   -I /c");
  EXPECT_EQ(options.normalized, "-DA=\"b   -I /c");
  EXPECT_THAT(options.include_folders, IsEmpty());
  EXPECT_EQ(options.why_not_closed, "a quote in the build options does not end");
}

TEST(RecordedNames, OptionsThatReadFilesAreReported) {
  for (const char* option : {"-include a.h", "-imacros a.h", "-isystem /a", "@file", "-Xclang -x",
                             "-Wp,-include", "-fmodule-file=a", "\"-include\" a.h"}) {
    const BuildOptions options = parse_build_options(std::string("-DA ") + option);
    EXPECT_NE(options.why_not_closed, "") << option;
  }
  EXPECT_EQ(parse_build_options("-w -include a.h").why_not_closed,
            "the build option '-include' can read a file");
  EXPECT_EQ(parse_build_options("-igc_opts 'A=1' -Wall -cl-std=CL3.0 -g").why_not_closed, "");
}

TEST(RecordedNames, VariantIsDefaultWithoutOptionsAndADigestOtherwise) {
  EXPECT_EQ(recorded_variant_name(""), "default");
  EXPECT_EQ(recorded_variant_name("-DA=1"), "f66dee18c2cc0588e3e173526177bad4");
}

} // namespace
} // namespace clbin::source
