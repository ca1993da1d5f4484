#include "terminal/shell_quoting.hpp"

#include "base/file_io.hpp"
#include "base/text.hpp"
#include "support/texts.hpp"

#include <cstdio>
#include <cstdlib>
#include <fmt/core.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using ::testing::ElementsAre;

TEST(QuoteForShell, LeavesPlainWordsAlone) {
  EXPECT_EQ(quote_for_shell("-DX=1"), "-DX=1");
  EXPECT_EQ(quote_for_shell("a/b-c_d.cl"), "a/b-c_d.cl");
}

TEST(QuoteForShell, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(quote_for_shell(""), "''");
  EXPECT_EQ(quote_for_shell("a b"), "'a b'");
  EXPECT_EQ(quote_for_shell("$HOME"), "'$HOME'");
  EXPECT_EQ(quote_for_shell("-DF(a)=a*2"), "'-DF(a)=a*2'");
  EXPECT_EQ(quote_for_shell("it's"), "'it'\\''s'");
  EXPECT_EQ(quote_for_shell("a\nb"), "'a\nb'");
  EXPECT_EQ(quote_for_shell("~"), "'~'");
  EXPECT_EQ(quote_for_shell("ü"), "'ü'");
}

TEST(QuoteForShell, SpellsInOctalWhatATerminalShouldNotGet) {
  EXPECT_EQ(quote_for_shell("a\x1b[2J'\\ü"), "'a'\"$(printf '\\033')\"'[2J'\\''\\ü'");
  EXPECT_EQ(quote_for_shell("lc.\u202e\x9b"), "'lc.'\"$(printf '\\342\\200\\256\\233')\"");
}

// The words of which a shell may make something else, alone and together.
std::vector<std::string> odd_words() {
  std::vector<std::string> words = {"",
                                    "a b",
                                    "~",
                                    "*",
                                    "#",
                                    "!",
                                    "$(touch x)",
                                    "`touch x`",
                                    "%s%n",
                                    "-n",
                                    "\\",
                                    "\\033",
                                    "a\\",
                                    "$'a'",
                                    "'; touch x; '",
                                    "\x1b';touch x;'",
                                    "'\x1b\"$(touch x)\"",
                                    "\n",
                                    "a\n",
                                    "\x1b\n",
                                    "\n\x1b\n\n",
                                    "\r\n",
                                    "\u2028\n",
                                    "\u202e",
                                    "ü",
                                    "\xff\xfe",
                                    "\x7f"};
  for (int byte = 1; byte < 256; ++byte) {
    const char letter = static_cast<char>(byte);
    words.emplace_back(1, letter);
    words.push_back(std::string("'") + letter + "7 '" + letter + letter + "\n");
  }
  std::string all;
  for (const std::string& word : words) {
    all += word;
  }
  words.push_back(all);
  return words;
}

// Returns what `shell` passes to a command with these words, each with a zero byte at its end.
std::string words_by(const std::string& shell, const std::vector<std::string>& words) {
  const auto folder = clbin::base::TemporaryFolder::create({}, "quoting-").value();
  const std::string script = (folder.path() / "script").string();
  std::string line = "printf '%s\\0'";
  for (const std::string& word : words) {
    line += " " + quote_for_shell(word);
  }
  std::ofstream(script, std::ios::binary) << line << "\n";
  const std::string output = (folder.path() / "output").string();
  EXPECT_EQ(std::system(fmt::format("{} {} >{}", shell, script, output).c_str()), 0) << shell;
  return clbin::test::file_text(output);
}

TEST(QuoteForShell, IsReadUnchangedByEveryShell) {
  const std::vector<std::string> words = odd_words();
  std::string expected;
  for (const std::string& word : words) {
    expected += word + std::string(1, '\0');
    EXPECT_EQ(clbin::base::printable_lines(quote_for_shell(word)), quote_for_shell(word));
  }
  std::size_t shells = 0;
  for (const std::string shell :
       {"dash", "bash", "bash --posix", "ksh", "mksh", "zsh", "busybox sh", "sh"}) {
    const std::string program = shell.substr(0, shell.find(' '));
    if (std::system(fmt::format("command -v {} >/dev/null", program).c_str()) != 0) {
      std::printf("%s is not installed\n", program.c_str());
      continue;
    }
    ++shells;
    EXPECT_EQ(words_by(shell, words), expected) << shell;
  }
  EXPECT_GE(shells, 2U) << "sh and dash";
}

TEST(FileWord, IsNeitherAnOptionNorAResponseFile) {
  EXPECT_EQ(file_word("a-@b"), "a-@b");
  EXPECT_EQ(file_word("-a"), "./-a");
  EXPECT_EQ(file_word("@a"), "./@a");
  EXPECT_EQ(file_word("-"), "-");
}

TEST(InSingleQuotes, KeepsControlCharacters) {
  EXPECT_EQ(in_single_quotes(""), "''");
  EXPECT_EQ(in_single_quotes("it's a\tname"), "'it'\\''s a\tname'");
}

TEST(OptionWords, AreOneWordIfTheValueWouldBeAResponseFile) {
  EXPECT_EQ(option_words("--variant", "a=@"), (std::vector<std::string>{"--variant", "a=@"}));
  EXPECT_EQ(option_words("--variant", "@a="), (std::vector<std::string>{"--variant=@a="}));
}

TEST(OptionWords, SplitLikeTheShell) {
  EXPECT_THAT(split_options("  a  b\t c\n"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split_options("-DX=\"a b\" 'c d' e\\ f"), ElementsAre("-DX=a b", "c d", "e f"));
  EXPECT_THAT(split_options("\"a\\\"b\" 'a\\b' \"a\\b\""), ElementsAre("a\"b", "a\\b", "a\\b"));
  EXPECT_THAT(split_options("''"), ElementsAre(""));
  EXPECT_THAT(split_options("a\\\nb \\\n c \"d\\\ne\" 'f\\\ng'"),
              ElementsAre("ab", "c", "de", "f\\\ng"));
  EXPECT_THAT(split_options(""), ElementsAre());
}

TEST(OptionWords, JoinSoThatTheySplitAgain) {
  const std::vector<std::string> words = {"-DX", "-DY=1 + 2", "-DZ=\"s\"", "a b",
                                          "",    "-DB=a\\b",  "-DQ='c'"};
  EXPECT_EQ(join_options({"-DX", "-DY=1 + 2"}), "-DX -DY=\"1 + 2\"");
  EXPECT_EQ(split_options(join_options(words)), words);
}

} // namespace
} // namespace oclcc
