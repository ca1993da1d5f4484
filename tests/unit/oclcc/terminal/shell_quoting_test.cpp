#include "terminal/shell_quoting.hpp"

#include <gtest/gtest.h>

namespace oclcc {
namespace {

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

TEST(QuoteForShell, SpellsInHexadecimalWhatATerminalShouldNotGet) {
  EXPECT_EQ(quote_for_shell("a\x1b[2J'\\ü"), "$'a\\x1b[2J\\'\\\\ü'");
  EXPECT_EQ(quote_for_shell("lc.\u202e\x9b"), "$'lc.\\xe2\\x80\\xae\\x9b'");
}

TEST(InSingleQuotes, KeepsControlCharacters) {
  EXPECT_EQ(in_single_quotes(""), "''");
  EXPECT_EQ(in_single_quotes("it's a\tname"), "'it'\\''s a\tname'");
}

} // namespace
} // namespace oclcc
