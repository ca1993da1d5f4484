#include "closure/include_closure.hpp"

#include "terminal/diagnostics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using clbin::format::SourcePackage;
using testing::ElementsAre;

// Returns "k.cl:3:10: error: text", and the source line if there is one.
std::vector<std::string> shown(const std::vector<Diagnostic>& diagnostics) {
  constexpr const char* k_names[] = {"note", "warning", "error"};
  std::vector<std::string> lines;
  for (const Diagnostic& d : diagnostics) {
    lines.push_back(fmt::format("{}:{}:{}: {}: {}", d.file, d.line, d.column,
                                k_names[static_cast<std::size_t>(d.severity)], d.text));
    if (!d.source_line.empty()) {
      lines.push_back("| " + d.source_line);
    }
    for (const std::string& device : d.devices) {
      lines.push_back("on " + device);
    }
  }
  return lines;
}

std::vector<std::string> parsed(std::string_view log, const SourcePackage& package) {
  return shown(parse_build_log(log, package));
}

// src/k.cl includes inc/a.h, which includes inc/sub/b.h.
SourcePackage package() {
  return {{"k.cl", "src/k.cl",
           "#include \"a.h\"\n"
           "#define BAD(x) (x + nope)\n"
           "kernel void k(global int* o) {\n"
           "\tint *p = f;\n"
           "  o[0] = BAD(1);\n"
           "}\n"},
          {{"a.h", "inc/a.h", "#include \"sub/b.h\"\n\nint in_a(int x) { return undeclared_a; }\n"},
           {"sub/b.h", "inc/sub/b.h", "// b\n#warning careful\n"}}};
}

TEST(BuildLog, OfPoclNamesTemporaryFiles) {
  EXPECT_THAT(
      parsed("error: /root/.cache/pocl/kcache/tempdir_LUMrEk/a.h:3:26: use of undeclared "
             "identifier 'undeclared_a'\n"
             "error: /root/.cache/pocl/kcache/tempfile_VAhRoy.cl:5:10 "
             "<Spelling=/root/.cache/pocl/kcache/tempfile_VAhRoy.cl:2:21>: use of undeclared "
             "identifier 'nope'\n"
             "warning: /root/.cache/pocl/kcache/tempdir_LUMrEk/sub/b.h:2:2: careful\n"
             "Device pthread-skylake-avx512-AMD EPYC failed to build the program\n",
             package()),
      ElementsAre("inc/a.h:3:26: error: use of undeclared identifier 'undeclared_a'",
                  "| int in_a(int x) { return undeclared_a; }",
                  "src/k.cl:5:10: error: use of undeclared identifier 'nope'", "|   o[0] = BAD(1);",
                  "src/k.cl:2:21: note: expanded from macro 'BAD'", "| #define BAD(x) (x + nope)",
                  "inc/sub/b.h:2:2: warning: careful", "| #warning careful"));
}

TEST(BuildLog, OfOclgrindShowsLinesAndCarets) {
  EXPECT_THAT(
      parsed("In file included from input.cl:1:\n"
             "In file included from ./a.h:1:\n"
             "/remapped/sub/b.h:2:2: warning: careful\n"
             "#warning careful\n"
             " ^\n"
             "input.cl:4:7: error: changes address space of pointer\n"
             "        int *p = f;\n"
             "             ^   ~\n"
             "input.cl:5:10: error: use of undeclared identifier 'nope'\n"
             "  o[0] = BAD(1);\n"
             "         ^\n"
             "input.cl:2:21: note: expanded from macro 'BAD'\n"
             "#define BAD(x) (x + nope)\n"
             "                    ^\n",
             package()),
      ElementsAre("inc/sub/b.h:2:2: warning: careful", "| #warning careful",
                  "inc/a.h:1:0: note: included from here", "src/k.cl:1:0: note: included from here",
                  "src/k.cl:4:7: error: changes address space of pointer", "| \tint *p = f;",
                  "src/k.cl:5:10: error: use of undeclared identifier 'nope'", "|   o[0] = BAD(1);",
                  "src/k.cl:2:21: note: expanded from macro 'BAD'", "| #define BAD(x) (x + nope)"));
}

// Clang's notes may refer to the compiler's own headers, which have no line in the user's files.
TEST(BuildLog, LeavesTheCompilersOwnHeadersTheirNames) {
  EXPECT_THAT(parsed("input.cl:3:2: error: no matching function for call to 'mad'\n"
                     "/lib/x86_64-linux-gnu/oclgrind/opencl-c.h:7810:22: note: candidate function "
                     "not viable: requires 3 arguments\n"
                     "float __ovld __cnfn mad(float a, float b, float c);\n"
                     "                     ^\n",
                     package()),
              ElementsAre("src/k.cl:3:2: error: no matching function for call to 'mad'",
                          "| kernel void k(global int* o) {",
                          "opencl-c.h:7810:22: note: candidate function not viable: requires 3 "
                          "arguments",
                          "| float __ovld __cnfn mad(float a, float b, float c);"));
  EXPECT_THAT(parsed("error: /root/.cache/pocl/tempfile_x.cl:5:10 "
                     "<Spelling=/usr/share/pocl/include/_kernel_renames.h:134:24>: too few\n",
                     package()),
              ElementsAre("src/k.cl:5:10: error: too few", "|   o[0] = BAD(1);",
                          "_kernel_renames.h:134:24: note: expanded from macro 'BAD'"));
}

TEST(BuildLog, OfRusticlHasNoSourceLines) {
  EXPECT_THAT(parsed("In file included from input.cl:1:\n"
                     "In file included from ./a.h:1:\n"
                     "/tmp/openclon12/sub/b.h:2:2: warning: careful [-W#warnings]\n"
                     "input.cl:1:10: fatal error: 'missing.h' file not found\n"
                     "Error executing LLVM compilation action.\n"
                     "(file=input,line=0,column=0,index=0): Unresolved external reference to "
                     "\"ext\".\n",
                     package()),
              ElementsAre("inc/sub/b.h:2:2: warning: careful [-W#warnings]", "| #warning careful",
                          "inc/a.h:1:0: note: included from here",
                          "src/k.cl:1:0: note: included from here",
                          "src/k.cl:1:10: error: 'missing.h' file not found", "| #include \"a.h\"",
                          "src/k.cl:0:0: error: Unresolved external reference to \"ext\"."));
}

TEST(BuildLog, OfNvidiaCallsTheMainFileKernel) {
  EXPECT_THAT(parsed("<kernel>:4:7: error: use of undeclared identifier 'f'\n"
                     "        int *p = f;\n"
                     "                 ^\n"
                     "ptxas fatal   : Unresolved extern function 'ext'\n"
                     "ptxas application ptx input, line 27; error   : Unknown symbol 'x'\n"
                     "ptxas info    : 0 bytes gmem\n",
                     package()),
              ElementsAre("src/k.cl:4:7: error: use of undeclared identifier 'f'",
                          "| \tint *p = f;",
                          "src/k.cl:0:0: error: Unresolved extern function 'ext'",
                          "src/k.cl:0:0: error: Unknown symbol 'x' (application ptx input, line "
                          "27)"));
}

TEST(BuildLog, OfIntelNumbersItsSources) {
  EXPECT_THAT(parsed("1:5:10: error: use of undeclared identifier 'nope'\n"
                     "  o[0] = BAD(1);\n"
                     "         ^\n"
                     "1:2:21: note: expanded from macro 'BAD'\n"
                     "#define BAD(x) (x + nope)\n"
                     "                    ^\n"
                     "error: backend compiler failed build.\n",
                     package()),
              ElementsAre("src/k.cl:5:10: error: use of undeclared identifier 'nope'",
                          "|   o[0] = BAD(1);", "src/k.cl:2:21: note: expanded from macro 'BAD'",
                          "| #define BAD(x) (x + nope)",
                          "src/k.cl:0:0: error: backend compiler failed build."));
}

// Captured from Intel's CPU runtime 2026.2.0.
TEST(BuildLog, OfIntelsCpuRuntimeOfABuildThatSucceedsIsSilent) {
  EXPECT_THAT(parsed("Compilation started\n"
                     "Compilation done\n"
                     "Linking started\n"
                     "Linking done\n"
                     "Device build started\n"
                     "Options used by backend compiler: -cl-std=CL1.2\n"
                     "Device build done\n"
                     "remark: <unknown>:0:0: Loop was 8-way vectorized1 gathers\n"
                     "remark: <unknown>:0:0: loop not vectorized: call instruction cannot be "
                     "vectorized\n"
                     "remark: <unknown>:0:0: Kernel was 16-way vectorized\n"
                     "remark: <unknown>:0:0: 183 instructions in function\n"
                     "Kernel \"matMul\" was successfully vectorized (16)\n"
                     "Kernel \"dotProduct\" was not vectorized\n"
                     "Done.",
                     package()),
              testing::IsEmpty());
  EXPECT_THAT(parsed("Device build started\n"
                     "Options used by backend compiler: \n"
                     "Device build done\n"
                     "Reload Program Binary Object.",
                     package()),
              testing::IsEmpty());
}

// Captured from Intel's CPU runtime 2026.2.0.
TEST(BuildLog, OfIntelsCpuRuntimeNumbersTheSourceAndItsLines) {
  EXPECT_THAT(
      parsed("Compilation started\n"
             "In file included from 1:1:\n"
             "./a.h:3:26: error: use of undeclared identifier 'undeclared_a'\n"
             "    3 | int in_a(int x) { return undeclared_a; }\n"
             "      |                          ^~~~~~~~~~~~\n"
             "1:4:11: error: use of undeclared identifier 'f'\n"
             "    4 |         int *p = f;\n"
             "      |                  ^\n"
             "1:5:10: error: use of undeclared identifier 'nope'\n"
             "    5 |   o[0] = BAD(1);\n"
             "      |          ^~~~~~\n"
             "1:2:21: note: expanded from macro 'BAD'\n"
             "    2 | #define BAD(x) (x + nope)\n"
             "      |                     ^~~~\n"
             "Compilation failed\n",
             package()),
      ElementsAre("inc/a.h:3:26: error: use of undeclared identifier 'undeclared_a'",
                  "| int in_a(int x) { return undeclared_a; }",
                  "src/k.cl:1:0: note: included from here",
                  "src/k.cl:4:11: error: use of undeclared identifier 'f'", "| \tint *p = f;",
                  "src/k.cl:5:10: error: use of undeclared identifier 'nope'", "|   o[0] = BAD(1);",
                  "src/k.cl:2:21: note: expanded from macro 'BAD'", "| #define BAD(x) (x + nope)"));
}

TEST(BuildLog, LeavesOutRemarksWithTheirNotes) {
  EXPECT_THAT(parsed("input.cl:4:7: warning: w\n"
                     "input.cl:4:8: note: of w\n"
                     "In file included from input.cl:1:\n"
                     "./a.h:3:1: remark: inlined\n"
                     "./a.h:3:2: note: of the remark\n"
                     "input.cl:5:1: error: e\n"
                     "input.cl:5:2: note: of e\n",
                     package()),
              ElementsAre("src/k.cl:4:7: warning: w", "| \tint *p = f;", "src/k.cl:4:8: note: of w",
                          "| \tint *p = f;", "src/k.cl:5:1: error: e", "|   o[0] = BAD(1);",
                          "src/k.cl:5:2: note: of e", "|   o[0] = BAD(1);"));
}

TEST(BuildLog, OfAmdNamesAFolderOfItsOwn) {
  EXPECT_THAT(parsed("/tmp/comgr-1a2b3c/input/CompileSource:5:10: error: use of undeclared "
                     "identifier 'nope'\n"
                     "    5 |   o[0] = BAD(1);\n"
                     "      |          ^\n"
                     "In file included from /tmp/comgr-1a2b3c/input/CompileSource:1:\n"
                     "/tmp/comgr-1a2b3c/include/a.h:3:26: error: no\n"
                     "1 error generated.\n"
                     "Error: Failed to compile source (from CL or HIP source to LLVM IR).\n",
                     package()),
              ElementsAre("src/k.cl:5:10: error: use of undeclared identifier 'nope'",
                          "|   o[0] = BAD(1);", "inc/a.h:3:26: error: no",
                          "| int in_a(int x) { return undeclared_a; }",
                          "src/k.cl:1:0: note: included from here"));
}

TEST(BuildLog, TellsErrorsThatHaveNoPlace) {
  EXPECT_THAT(parsed("error: unknown argument: '-cl-bogus'\n1 error generated.\n", package()),
              ElementsAre("src/k.cl:0:0: error: unknown argument: '-cl-bogus'"));
  EXPECT_THAT(
      parsed("src:3: warning: a line alone\n", package()),
      ElementsAre("src/k.cl:3:0: warning: a line alone", "| kernel void k(global int* o) {"));
}

TEST(BuildLog, MayHoldAnything) {
  for (const std::string_view log :
       {"", "\n\n", ":", "::", "error:", "error: ", "a:1", "a:1:", "a:99999999999:1: error: x",
        "In file included from ", "In file included from :1:", " <Spelling=", "(file=): "}) {
    const auto diagnostics = parse_build_log(log, package());
    EXPECT_LE(diagnostics.size(), 1U) << log;
  }
  EXPECT_THAT(parsed("input.cl:900:7: error: beyond the file", package()),
              ElementsAre("src/k.cl:900:7: error: beyond the file"));
}

// A package with the user's own #line directives.
SourcePackage package_with_line_directives() {
  return {{"k.cl", "k.cl",
           "int a;\n"
           "#line 50\n"
           "int b = zap;\n"
           "#line 100 \"other name.cl\"\n"
           "int c = bar;\n"},
          {}};
}

TEST(BuildLog, FollowsLineDirectives) {
  EXPECT_THAT(parsed("input.cl:50:9: error: zap\nother name.cl:100:9: error: bar\n",
                     package_with_line_directives()),
              ElementsAre("k.cl:50:9: error: zap", "| int b = zap;",
                          "other name.cl:100:9: error: bar", "| int c = bar;"));
}

TEST(BuildLog, FollowsLineDirectivesWhereTheCompilerDoesNot) {
  EXPECT_THAT(parsed("input.cl:3:9: error: zap\nint b = zap;\n        ^\n"
                     "input.cl:5:9: error: bar\nint c = bar;\n        ^\n",
                     package_with_line_directives()),
              ElementsAre("k.cl:50:9: error: zap", "| int b = zap;",
                          "other name.cl:100:9: error: bar", "| int c = bar;"));
}

TEST(BuildLog, NeverNamesThePrologue) {
  const SourcePackage source = {
      {std::string(clbin::closure::k_prologue_name), "dir/k.cl",
       "#define S \"a b\"\n#include \"k.cl\"\n"},
      {{"k.cl", "dir/k.cl", "int a = b;\n#line 7 \"x y\"\nint c = d;\n"}}};
  EXPECT_THAT(parsed("In file included from input.cl:2:\n./k.cl:1:9: error: b\n"
                     "input.cl:1:9: warning: S\n<built-in>:1:1: note: n\nerror: whole\n"
                     "x y:7:9: error: d\n",
                     source),
              ElementsAre("dir/k.cl:1:9: error: b", "| int a = b;",
                          "<command line>:1:9: warning: S", "<built-in>:1:1: note: n",
                          "dir/k.cl:0:0: error: whole", "x y:7:9: error: d", "| int c = d;"));
}

TEST(Warnings, AreDroppedOrMadeErrorsWithTheirNotes) {
  const std::string_view log = "input.cl:1:1: warning: w\ninput.cl:2:1: note: of w\n"
                               "input.cl:3:1: error: e\ninput.cl:4:1: note: of e\n";
  const SourcePackage source = {{"k.cl", "k.cl", "\n"}, {}};
  EXPECT_EQ(warning_policy({"-DX"}), WarningPolicy::show);
  EXPECT_EQ(warning_policy({"-Werror"}), WarningPolicy::make_errors);
  EXPECT_EQ(warning_policy({"-Werror", "-w"}), WarningPolicy::drop);
  auto diagnostics = parse_build_log(log, source);
  apply_warning_policy(diagnostics, WarningPolicy::show);
  EXPECT_EQ(diagnostics.size(), 4U);
  apply_warning_policy(diagnostics, WarningPolicy::drop);
  EXPECT_THAT(shown(diagnostics), ElementsAre("k.cl:3:1: error: e", "k.cl:4:1: note: of e"));
  diagnostics = parse_build_log(log, source);
  apply_warning_policy(diagnostics, WarningPolicy::make_errors);
  EXPECT_THAT(shown(diagnostics),
              ElementsAre("k.cl:1:1: error: w [-Werror]", "k.cl:2:1: note: of w",
                          "k.cl:3:1: error: e", "k.cl:4:1: note: of e"));
}

Diagnostic said_by(const std::string& device, Severity severity, std::uint32_t line,
                   const std::string& text) {
  return {severity, "k.cl", line, 1, text, "", {device}};
}

TEST(MergedDiagnostics, NameTheDevicesOnce) {
  EXPECT_THAT(
      shown(merge_diagnostics(
          {said_by("A", Severity::error, 1, "x"), said_by("A", Severity::error, 2, "only A"),
           said_by("B", Severity::error, 1, "x"), said_by("B", Severity::error, 1, "x")})),
      ElementsAre("k.cl:1:1: error: x", "on A", "on B", "k.cl:2:1: error: only A", "on A"));
}

TEST(MergedDiagnostics, AreTheSameWithAndWithoutTheNameOfTheOption) {
  EXPECT_THAT(shown(merge_diagnostics({said_by("A", Severity::warning, 1, "careful"),
                                       said_by("B", Severity::warning, 1, "careful [-Wcare]")})),
              ElementsAre("k.cl:1:1: warning: careful", "on A", "on B"));
}

TEST(MergedDiagnostics, KeepNotesWithTheirError) {
  EXPECT_THAT(
      shown(merge_diagnostics(
          {said_by("A", Severity::error, 1, "x"), said_by("A", Severity::error, 2, "y"),
           said_by("B", Severity::error, 1, "x"), said_by("B", Severity::note, 9, "why x"),
           said_by("C", Severity::error, 1, "x"), said_by("C", Severity::note, 9, "why x")})),
      ElementsAre("k.cl:1:1: error: x", "on A", "on B", "on C", "k.cl:9:1: note: why x",
                  "k.cl:2:1: error: y", "on A"));
}

TEST(LineMap, CountsLinesThatEndWithACarriageReturn) {
  const LineMap map("int a;\r#line 5 \"x\"\nint b;\n");
  EXPECT_EQ(map.text_of(3), "int b;");
  EXPECT_EQ(map.physical({"x", 5}), 3U);
  EXPECT_EQ(map.presumed(3).line, 5U);
}

} // namespace
} // namespace oclcc
