#include "terminal/reporter.hpp"
#include "terminal/terminal_text.hpp"

#include <cstdlib>
#include <fmt/core.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

std::string shown(const Diagnostic& diagnostic, ColorMode color = ColorMode::never,
                  Verbosity verbosity = Verbosity::normal) {
  Reporter reporter(color, verbosity);
  testing::internal::CaptureStderr();
  reporter.diagnostic(diagnostic);
  return testing::internal::GetCapturedStderr();
}

TEST(Reporter, ShowsPlaceSourceLineAndCaret) {
  EXPECT_EQ(shown({Severity::error, "k.cl", 3, 10, "no such thing", "  int a = foo;", {}}),
            "k.cl:3:10: error: no such thing\n"
            "    3 |   int a = foo;\n"
            "      |          ^\n");
}

TEST(Reporter, ShowsAsMuchOfThePlaceAsIsKnown) {
  EXPECT_EQ(shown({Severity::warning, "k.cl", 3, 0, "text", "", {}}), "k.cl:3: warning: text\n");
  EXPECT_EQ(shown({Severity::note, "k.cl", 0, 0, "text", "", {}}), "k.cl: note: text\n");
  EXPECT_EQ(shown({Severity::error, "", 0, 0, "text", "", {}}), "oclcc: error: text\n");
}

TEST(Reporter, NamesTheDevicesThatSaidSo) {
  EXPECT_EQ(shown({Severity::error, "k.cl", 1, 0, "text", "", {"GPU one", "GPU two"}}),
            "k.cl:1: error: text [on 'GPU one', 'GPU two']\n");
}

TEST(Reporter, PutsTheCaretBelowTabsAndWideCharacters) {
  EXPECT_EQ(shown({Severity::error, "k.cl", 12, 3, "text", "\t\tfoo", {}}),
            "k.cl:12:3: error: text\n   12 | \t\tfoo\n      | \t\t^\n");
  // "é" is two bytes and one cell, the ideograph three bytes and two cells.
  EXPECT_EQ(shown({Severity::error, "k.cl", 1, 6, "text", "\u00e9\u6f22x", {}}),
            "k.cl:1:6: error: text\n    1 | \u00e9\u6f22x\n      |    ^\n");
}

TEST(Reporter, ShowsNoCaretOutsideTheLine) {
  EXPECT_EQ(shown({Severity::error, "k.cl", 1, 9, "text", "abc", {}}),
            "k.cl:1:9: error: text\n    1 | abc\n");
}

TEST(Reporter, ColorsWhenToldTo) {
  EXPECT_EQ(shown({Severity::error, "k.cl", 1, 1, "text", "abc", {}}, ColorMode::always),
            "\x1b[1mk.cl:1:1:\x1b[0m \x1b[1;31merror:\x1b[0m text\n"
            "    1 | abc\n      | \x1b[1;31m^\x1b[0m\n");
}

TEST(Reporter, DoesNotColorAFile) {
  EXPECT_EQ(shown({Severity::error, "", 0, 0, "text", "", {}}, ColorMode::automatic),
            "oclcc: error: text\n");
}

TEST(Reporter, KeepsControlCharactersFromTheTerminal) {
  EXPECT_EQ(shown({Severity::error, "k\x1b.cl", 1, 0, "a\x1b[2Jb\rc", "x\x1b[1mz\x7f", {}}),
            "k?.cl:1: error: a?[2Jb?c\n    1 | x?[1mz?\n");
}

TEST(Reporter, LeavesWarningsAndNotesOutWhenQuiet) {
  Reporter reporter(ColorMode::never, Verbosity::quiet);
  testing::internal::CaptureStderr();
  reporter.warning("a");
  reporter.note("b");
  reporter.verbose("c");
  reporter.progress("d");
  reporter.diagnostic({Severity::warning, "k.cl", 1, 0, "e", "", {}});
  reporter.error("f");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "oclcc: error: f\n");
}

TEST(Reporter, ShowsVerboseLinesOnRequestOnly) {
  testing::internal::CaptureStderr();
  Reporter(ColorMode::never, Verbosity::normal).verbose("hidden");
  Reporter(ColorMode::never, Verbosity::verbose).verbose("a line");
  Reporter(ColorMode::never, Verbosity::verbose).verbose("a log\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "a line\na log\n");
}

TEST(Reporter, ShowsNoProgressOutsideATerminal) {
  testing::internal::CaptureStderr();
  Reporter(ColorMode::always, Verbosity::normal).progress("compiling");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ProgressText, TellsTheUnitAndHowManyAreDone) {
  EXPECT_EQ(progress_line({7, 24, std::chrono::seconds(30), "NVIDIA H200 · matmul.cl · fp16"}),
            "[7/24] NVIDIA H200 · matmul.cl · fp16");
}

TEST(ProgressText, TellsTheTimeLeftOnceItCanBeKnown) {
  using std::chrono::milliseconds;
  EXPECT_EQ(progress_line_with_time({0, 4, milliseconds(0), "a"}), "[0/4] a");
  EXPECT_EQ(progress_line_with_time({1, 4, milliseconds(5000), "a"}), "[1/4] a");
  EXPECT_EQ(progress_line_with_time({2, 4, milliseconds(900), "a"}), "[2/4] a");
  EXPECT_EQ(progress_line_with_time({2, 4, milliseconds(1000), "a"}), "[2/4] a · 1 s left");
  EXPECT_EQ(progress_line_with_time({2, 4, milliseconds(1100), "a"}), "[2/4] a · 2 s left");
  EXPECT_EQ(progress_line_with_time({4, 4, milliseconds(9000), "a"}), "[4/4] a");
}

TEST(ProgressText, TellsLongTimesInMinutesAndHours) {
  using std::chrono::seconds;
  EXPECT_EQ(progress_line_with_time({10, 20, seconds(90), "a"}), "[10/20] a · 90 s left");
  EXPECT_EQ(progress_line_with_time({10, 20, seconds(91), "a"}), "[10/20] a · 2 min left");
  EXPECT_EQ(progress_line_with_time({10, 20, seconds(3540), "a"}), "[10/20] a · 59 min left");
  EXPECT_EQ(progress_line_with_time({10, 20, seconds(3541), "a"}), "[10/20] a · 1 h 0 min left");
  EXPECT_EQ(progress_line_with_time({10, 20, seconds(7500), "a"}), "[10/20] a · 2 h 5 min left");
}

TEST(TerminalText, CutsAtACellAndNotInACharacter) {
  EXPECT_EQ(fitting("abc", 5), "abc");
  EXPECT_EQ(fitting("abc", 2), "ab");
  EXPECT_EQ(fitting("a·b", 2), "a·");
  EXPECT_EQ(fitting("a·b", 1), "a");
  EXPECT_EQ(fitting("漢字", 3), "漢");
  EXPECT_EQ(fitting("abc", 0), "");
}

TEST(Reporter, KeepsEverythingForTheDocumentOfAFormat) {
  testing::internal::CaptureStderr();
  Reporter reporter(ColorMode::always, Verbosity::verbose, DiagnosticsFormat::json);
  reporter.progress("compiling");
  reporter.note("left out");
  reporter.error("crashed");
  reporter.explain("it printed: x");
  reporter.verbose("a log");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  reporter.finish(RunResult::failed);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), R"({
  "diagnostics": [
    {
      "devices": [],
      "message": "left out",
      "notes": [],
      "severity": "note"
    },
    {
      "devices": [],
      "message": "crashed",
      "notes": [
        {
          "message": "it printed: x",
          "severity": "note"
        }
      ],
      "severity": "error"
    }
  ],
  "log": [
    "a log"
  ],
  "version": 1
}
)");
}

TEST(Reporter, WritesNoDocumentAsText) {
  testing::internal::CaptureStderr();
  Reporter(ColorMode::never, Verbosity::normal).finish(RunResult::succeeded);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Reporter, PrintsUnchangedToStandardOutput) {
  Reporter reporter(ColorMode::always, Verbosity::quiet);
  testing::internal::CaptureStdout();
  EXPECT_TRUE(reporter.print("a\tb\n"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "a\tb\n");
}

TEST(TerminalText, PadsToTheCellOfAByte) {
  EXPECT_EQ(padding_below("abc", 1), "");
  EXPECT_EQ(padding_below("abc", 3), "  ");
  EXPECT_EQ(padding_below("a\tb", 3), " \t");
  EXPECT_EQ(padding_below("e\u0301x", 4), " "); // e and a combining accent
  EXPECT_EQ(padding_below("\xff\xc3x", 3), "  ");
  EXPECT_EQ(padding_below("", 0), "");
  EXPECT_EQ(padding_below("ab", 90), "  ");
}

TEST(Reporter, PutsTheCaretBehindReplacedCharacters) {
  // The override is three bytes in the source and one cell on the terminal.
  EXPECT_EQ(shown({Severity::error, "k.cl", 1, 5, "text", "a\u202eb", {}}),
            "k.cl:1:5: error: text\n    1 | a?b\n      |   ^\n");
}

TEST(Reporter, LetsNothingThroughThatDeceivesWhicheverWayItIsPrinted) {
  const std::string hidden = "\x9b\u202e\u0085";
  Reporter reporter(ColorMode::never, Verbosity::verbose);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_TRUE(reporter.print("p" + hidden + "\n"));
  reporter.plain("l" + hidden + "\n");
  reporter.verbose("v" + hidden);
  reporter.error("e" + hidden);
  reporter.diagnostic({Severity::error, "f" + hidden, 1, 0, "t", "s" + hidden, {"d" + hidden}});
  const std::string shown(3, '?');
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "p" + shown + "\n");
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      fmt::format("l{0}\nv{0}\noclcc: error: e{0}\nf{0}:1: error: t [on 'd{0}']\n    1 | s{0}\n",
                  shown));
}

TEST(Reporter, EscapesInDocumentsWhatDeceives) {
  for (const DiagnosticsFormat format : {DiagnosticsFormat::json, DiagnosticsFormat::sarif}) {
    Reporter reporter(ColorMode::never, Verbosity::normal, format);
    testing::internal::CaptureStderr();
    reporter.error("a\u202eb");
    reporter.finish(RunResult::failed);
    const std::string document = testing::internal::GetCapturedStderr();
    EXPECT_NE(document.find("a\\u202eb"), std::string::npos) << document;
    EXPECT_EQ(document.find("\u202e"), std::string::npos) << document;
  }
}

} // namespace
} // namespace oclcc
