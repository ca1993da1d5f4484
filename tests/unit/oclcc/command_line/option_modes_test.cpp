// Tests every option in every mode: it has an effect, or is an error that names it. The table below
// is independent of the product's table.
#include "command_line/option_table.hpp"
#include "command_line/options.hpp"
#include "compile/output_plan.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace oclcc {
namespace {

using clbin::base::ErrorCode;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

using Words = std::vector<std::string>;

// A request, as words that request nothing else.
struct Activity {
  char letter;
  Words words;
  std::string_view mode; // as in messages; empty: compile
};
const std::vector<Activity> k_activities = {
    {'c', {"k.cl"}, ""},
    {'b', {"k.clbin", "-o", "k.o"}, ""},     // nothing is compiled
    {'B', {"k.clbin", "-o", "l.clbin"}, ""}, // its programs are built anew
    {'l', {"--list-devices"}, "--list-devices"},
    {'t', {"--list-targets"}, "--list-targets"},
    {'P', {"--plan", "json", "k.cl"}, "--plan"},
    {'y', {"--identity"}, "--identity"},
    {'i', {"--info", "k.clbin"}, "--info"},
    {'e', {"--explain", "k.clbin"}, "--explain"},
    {'v', {"--verify", "k.clbin"}, "--verify"},
    {'r', {"--verify", "--run", "k.clbin"}, "--verify"},
    {'w', {"--tune", "--launch", "k=1", "k.clbin"}, "--tune"},
    {'W', {"--warm", "k.clbin"}, "--warm"},
    {'d', {"--diff", "k.clbin", "l.clbin"}, "--diff"},
    {'x', {"--extract", "k.clbin"}, "--extract"},
    {'D', {"--disassemble", "k.clbin"}, "--disassemble"},
    {'T', {"--report", "k.clbin"}, "--report"},
    {'V', {"--provenance", "k.clbin"}, "--provenance"},
    {'M', {"--sbom", "k.clbin"}, "--sbom"},
    {'R', {"--reproduce", "k.clbin"}, "--reproduce"},
    {'m', {"--merge", "k.clbin"}, "--merge"},
    {'o', {"--import", "k.ptx"}, "--import"},
    {'p', {"--repack", "k.clbin"}, "--repack"},
    {'j', {"--split", "k.clbin"}, "--split"},
    {'s', {"--strip", "k.clbin"}, "--strip"},
    {'S', {"--cache-stats"}, "--cache-stats"},
    {'C', {"--clear-cache"}, "--clear-cache"},
    {'k', {"--keygen", "name"}, "--keygen"},
    {'g', {"--sign", "--key", "k.key", "k.clbin"}, "--sign"},
    {'a', {"--sign-message", "k.clbin"}, "--sign-message"},
    {'z', {"--strip-signature", "k.clbin"}, "--strip-signature"},
    {'n', {"--encrypt", "--encrypt-for", "other.pub", "k.clbin"}, "--encrypt"},
    {'u', {"--decrypt", "--decrypt-key", "other.key", "k.clbin"}, "--decrypt"},
};
constexpr std::string_view k_everywhere =
    "cPbBltyievrwWdxDTVMRmopsjSCkgaznu"; // for options that control messages

// An option, a use of it, the words that it needs, and the activities that it changes.
struct Use {
  std::string_view option;
  Words words;
  Words needs;
  std::string_view letters;
};
const std::vector<Use> k_uses = {
    {"-o", {"-o", "out.o"}, {}, "PBcbxDVMmopsgaznuwj"},
    {"--emit", {"--emit", "o"}, {}, "Bcb"},
    {"--symbol", {"--symbol", "x"}, {}, "cb"},
    {"--embed-header", {"--embed-header", "k.h"}, {}, "cb"},
    {"--host-triple", {"--host-triple", "aarch64-linux-gnu"}, {}, "cb"},
    {"-S", {"-S"}, {}, "Bcb"},
    {"--program", {"--program", "p=k.cl"}, {}, "PcxDT"},
    {"--optional", {"--optional", "k"}, {}, "PBc"},
    {"--variant", {"--variant", "v=-w"}, {}, "PcxDTw"},
    {"--variants", {"--variants", "A=1"}, {}, "Pcw"},
    {"--requires", {"--requires", "v=a", "--variant", "v=-w"}, {}, "Pc"},
    {"--specialize", {"--specialize", "k=4"}, {}, "PBcW"},
    {"--launched-only", {"--launched-only"}, {}, "Bc"},
    {"--emit-cubin", {"--emit-cubin"}, {}, "PBc"},
    {"--no-source", {"--no-source"}, {}, "PBc"},
    {"--source-only", {"--source-only"}, {}, "c"},
    {"--device", {"--device", "gpu"}, {}, "PBclerwW"},
    {"--target", {"--target", "spirv:1.2"}, {}, "PBc"},
    {"--tool", {"--tool", "clang=clang"}, {}, "PBctyDR"},
    {"--device-option", {"--device-option", "gpu=-w"}, {}, "Pc"},
    {"-D", {"-DX"}, {}, "Pc"},
    {"-U", {"-UX"}, {}, "Pc"},
    {"-I", {"-I", "."}, {}, "Pc"},
    {"-include", {"-include", "k.h"}, {}, "Pc"},
    {"-cl-", {"-cl-mad-enable"}, {}, "Pc"},
    {"-g", {"-g"}, {}, "Pc"},
    {"-O", {"-O"}, {}, "Pc"},
    {"-O0", {"-O0"}, {}, "Pc"},
    {"-O1", {"-O1"}, {}, "Pc"},
    {"-O2", {"-O2"}, {}, "Pc"},
    {"-O3", {"-O3"}, {}, "Pc"},
    {"-Os", {"-Os"}, {}, "Pc"},
    {"-Oz", {"-Oz"}, {}, "Pc"},
    {"-Ofast", {"-Ofast"}, {}, "Pc"},
    {"-w", {"-w"}, {}, "Pc"},
    {"-Werror", {"-Werror"}, {}, "Pc"},
    {"-Werror=variant", {"-Werror=variant"}, {}, "PBc"},
    {"-x", {"-x", "cl"}, {}, "Pc"},
    {"-ffile-prefix-map", {"-ffile-prefix-map=a=b"}, {}, "Pc"},
    {"-fmacro-prefix-map", {"-fmacro-prefix-map=a=b"}, {}, "Pc"},
    {"-fdebug-prefix-map", {"-fdebug-prefix-map=a=b"}, {}, "Pc"},
    {"-M", {"-M"}, {}, "c"},
    {"-MM", {"-MM"}, {}, "c"},
    {"-MD", {"-MD"}, {}, "Bcb"},
    {"-MMD", {"-MMD"}, {}, "Bcb"},
    {"-MF", {"-MF", "k.d"}, {"-MD"}, "Bcb"},
    {"-MT", {"-MT", "k"}, {"-MD"}, "Bcb"},
    {"-MQ", {"-MQ", "k"}, {"-MD"}, "Bcb"},
    {"-MP", {"-MP"}, {"-MD"}, "Bcb"},
    {"--watch", {"--watch"}, {}, "c"},
    {"-fsyntax-only", {"-fsyntax-only"}, {}, "Bc"},
    {"-###", {"-###"}, {}, "c"},
    {"--compile-commands", {"--compile-commands"}, {}, "c"},
    {"-j", {"-j", "2"}, {}, "BcerR"},
    {"--timeout", {"--timeout", "9"}, {}, "PBclergDRwW"},
    {"--memory-limit", {"--memory-limit", "1G"}, {}, "PBclRwW"},
    {"--keep-going", {"--keep-going"}, {}, "Bc"},
    {"--machine", {"--machine", "m.json"}, {}, "Po"},
    {"--unit",
     {"--unit", "0000000000000000000000000000000000000000000000000000000000000000"},
     {},
     "c"},
    {"--color", {"--color"}, {}, k_everywhere},
    {"--diagnostics-format", {"--diagnostics-format", "json"}, {}, k_everywhere},
    {"-q", {"-q"}, {}, k_everywhere},
    {"-v", {"-v"}, {}, k_everywhere},
    {"--run", {"--run"}, {}, "vr"},
    {"--launch", {"--launch", "l=2"}, {}, "w"},
    {"--tune-seconds", {"--tune-seconds", "9"}, {}, "w"},
    {"--tolerance", {"--tolerance", "0.5"}, {}, "w"},
    {"--known-answers", {"--known-answers"}, {}, "w"},
    {"--kernel", {"--kernel", "k"}, {}, "DT"},
    {"--against", {"--against", "l.clbin"}, {}, "T"},
    {"--fail-on", {"--fail-on", "spills"}, {"--against", "l.clbin"}, "T"},
    {"--csv", {"--csv"}, {}, "T"},
    {"--html", {"--html", "k.html"}, {}, "T"},
    {"--json", {"--json"}, {}, "ltyievrwdxTmpsSgznu"},
    {"--keep-target", {"--keep-target", "*"}, {}, "xDTs"},
    {"--drop-target", {"--drop-target", "*"}, {}, "xDTs"},
    {"--strip-source", {"--strip-source"}, {}, "s"},
    {"--strip-reflection", {"--strip-reflection"}, {}, "s"},
    {"--strip-measurements", {"--strip-measurements"}, {}, "s"},
    {"--strip-answers", {"--strip-answers"}, {}, "s"},
    {"--strip-data", {"--strip-data"}, {}, "s"},
    {"--prune", {"--prune"}, {}, "s"},
    {"--record-binaries", {"--record-binaries"}, {}, ""},
    {"--record-data", {"--record-data"}, {}, ""},
    {"--no-passphrase", {"--no-passphrase"}, {}, "k"},
    {"--key", {"--key", "other.key"}, {}, ""}, // --sign accepts one, which 'g' has
    {"--sign-key", {"--sign-key", "k.key"}, {}, "Bcj"},
    {"--sign-with", {"--sign-with", "command", "--public-key", "k.pub"}, {}, "Bcj"},
    {"--public-key", {"--public-key", "k.pub"}, {}, "vr"},
    {"--counter", {"--counter", "3"}, {}, "ga"},
    {"--least-counter", {"--least-counter", "3"}, {"--public-key", "k.pub"}, "vr"},
    {"--vouched-by", {"--vouched-by", "old.key"}, {}, "g"},
    {"--passphrase-file", {"--passphrase-file", "file"}, {}, "kg"},
    {"--detached", {"--detached"}, {}, "g"},
    {"--key-type", {"--key-type", "content"}, {}, "k"},
    {"--encrypt-key", {"--encrypt-key", "c.key"}, {}, "Bcmpsnj"},
    {"--encrypt-for", {"--encrypt-for", "r.pub"}, {}, "Bcmpsnj"},
    {"--decrypt-key", {"--decrypt-key", "c.key"}, {}, "cbBievrdxDTVMRmpsganuj"},
    {"--no-cache", {"--no-cache"}, {}, "PBcw"},
};

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool acts(const Use& use, const Activity& activity) {
  return use.letters.find(activity.letter) != std::string_view::npos;
}

std::string refusal(const Use& use, const Activity& activity) {
  const auto options = parse_command_line(activity.words + use.needs + use.words);
  if (!options) {
    EXPECT_EQ(options.error().code, ErrorCode::invalid_argument);
    return options.error().message;
  }
  if (activity.letter == 'b' || activity.letter == 'B') {
    const auto allowed = use_of_bundle(*options, "k.clbin");
    return allowed ? "" : allowed.error().message;
  }
  return {};
}

TEST(OptionModes, KnowEveryOptionOfTheTable) {
  std::set<std::string> of_table;
  for (const OptionRow& row : option_table()) {
    const bool selects_mode = row.form == OptionForm::mode ||
                              row.form == OptionForm::optional_mode || row.long_name == "record" ||
                              row.long_name == "keygen" || row.long_name == "plan";
    if (!selects_mode) {
      of_table.insert(short_spelling(row));
    }
  }
  std::set<std::string> of_test;
  for (const Use& use : k_uses) {
    EXPECT_TRUE(of_test.emplace(use.option).second) << use.option;
  }
  EXPECT_EQ(of_test, of_table);
}

TEST(OptionModes, RefuseByNameWhatWouldHaveNoEffect) {
  unsigned refused = 0;
  for (const Use& use : k_uses) {
    for (const Activity& activity : k_activities) {
      if (acts(use, activity)) {
        continue;
      }
      SCOPED_TRACE(std::string(use.option) + " in " + activity.letter);
      const std::string first(use.needs.empty() ? use.option : use.needs.front());
      const std::string message = refusal(use, activity);
      const std::string refused_by =
          activity.letter == 'b' ? "'k.clbin', which is a bundle: nothing is compiled"
          : activity.letter == 'B'
              ? "'k.clbin', which is a bundle: its programs are built as they were recorded"
              : "'" + std::string(activity.mode) + "'";
      const std::string option(use.option);
      EXPECT_THAT(message, AnyOf(StartsWith("'" + first + "' needs '"),
                                 StartsWith("'" + option + "' needs '"),
                                 "'" + option + "' cannot be used with " + refused_by,
                                 "'--key' and '" + first + "' cannot be used together",
                                 "'--key' is given more than once",
                                 "'" + first + "' cannot be used with " + refused_by));
      ++refused;
    }
  }
  EXPECT_GT(refused, 400U);
}

TEST(OptionModes, AcceptWhatActs) {
  for (const Use& use : k_uses) {
    for (const Activity& activity : k_activities) {
      if (!acts(use, activity)) {
        continue;
      }
      SCOPED_TRACE(std::string(use.option) + " in " + activity.letter);
      EXPECT_EQ(refusal(use, activity), "");
      const auto with = parse_command_line(activity.words + use.needs + use.words);
      const auto without = parse_command_line(activity.words + use.needs);
      ASSERT_TRUE(with && without);
      const bool is_given_already = use.option == "--run" && activity.letter == 'r';
      EXPECT_EQ(*with == *without, is_given_already);
    }
  }
}

TEST(OptionModes, OfARecordingAcceptWhatActs) {
  const std::set<std::string_view> accepted = {"--no-source",
                                               "--record-binaries",
                                               "--record-data",
                                               "--decrypt-key",
                                               "--color",
                                               "--diagnostics-format",
                                               "-q",
                                               "-v"};
  for (const Use& use : k_uses) {
    SCOPED_TRACE(use.option);
    const auto options =
        parse_command_line(use.needs + use.words + Words{"--record", "a.clbin", "--", "app"});
    EXPECT_EQ(options.has_value(), accepted.contains(use.option));
    if (!options) {
      const std::string first(use.needs.empty() ? use.option : use.needs.front());
      EXPECT_EQ(options.error().code, ErrorCode::invalid_argument);
      EXPECT_THAT(options.error().message,
                  AnyOf("'" + first + "' cannot be used with '--record'",
                        StartsWith("'" + first + "' needs '"),
                        HasSubstr("'--record' requires '--' before the command")));
    }
  }
}

TEST(OptionModes, LeaveTheWordsOfARecordedCommandAlone) {
  const Words command = {"app", "", "-DX", "@file", "--", "--merge"};
  const auto options = parse_command_line(Words{"--record=a.clbin", "-q", "--"} + command);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->mode, Mode::record);
  EXPECT_EQ(options->recording, "a.clbin");
  EXPECT_EQ(options->command, command);
}

TEST(OptionModes, ExcludeEachOther) {
  for (const Activity& one : k_activities) {
    for (const Activity& other : k_activities) {
      if (one.mode.empty() || other.mode.empty() || one.mode == other.mode) {
        continue;
      }
      const auto both = parse_command_line(one.words + other.words);
      ASSERT_FALSE(both);
      EXPECT_EQ(both.error().code, ErrorCode::invalid_argument);
      EXPECT_THAT(both.error().message,
                  AnyOf("'" + std::string(one.mode) + "' and '" + std::string(other.mode) +
                            "' cannot be used together",
                        "'" + std::string(other.mode) + "' and '" + std::string(one.mode) +
                            "' cannot be used together"));
    }
  }
}

TEST(OptionModes, YieldToHelpAndVersion) {
  for (const Use& use : k_uses) {
    for (const std::string mode : {"--help", "--version"}) {
      const auto options = parse_command_line(use.words + Words{mode});
      ASSERT_TRUE(options) << use.option << ": " << options.error().message;
      EXPECT_EQ(mode_spelling(options->mode), mode);
    }
  }
}

TEST(OptionModes, NameWhatSigningLacks) {
  const std::vector<std::pair<Words, std::string>> k_cases = {
      {{"--sign", "k.clbin"}, "'--sign' needs '--key' or '--sign-with'"},
      {{"--sign", "--sign-with", "c", "k.clbin"}, "'--sign-with' needs one '--public-key'"},
      {{"--sign", "--sign-with", "c", "--public-key", "a", "--public-key", "b", "k.clbin"},
       "'--sign-with' needs one '--public-key'"},
      {{"--sign", "--sign-with", "c", "--public-key", "a", "--passphrase-file", "f", "k.clbin"},
       "'--passphrase-file' needs '--key'"},
      {{"k.cl", "--sign-key", "k.key", "--sign-with", "c", "--public-key", "a"},
       "'--sign-key' and '--sign-with' cannot be used together"},
      {{"k.cl", "--counter", "3"}, "'--counter' needs '--sign-key' or '--sign-with'"},
      {{"--sign", "--key", "k", "--detached", "--counter", "3", "k.clbin"},
       "'--detached' and '--counter' cannot be used together"},
      {{"--sign", "--key", "k", "--detached", "--vouched-by", "o.key", "k.clbin"},
       "'--detached' and '--vouched-by' cannot be used together"},
      {{"--verify", "--detached", "k.clbin"}, "'--detached' needs '--public-key'"},
      {{"--verify", "--least-counter", "3", "k.clbin"}, "'--least-counter' needs '--public-key'"},
      {{"--verify", "--detached", "--public-key", "p", "--least-counter", "3", "k.clbin"},
       "'--detached' and '--least-counter' cannot be used together"},
      {{"--keygen", "name", "--no-passphrase", "--passphrase-file", "f"},
       "'--no-passphrase' and '--passphrase-file' cannot be used together"},
      {{"--keygen", "name", "k.clbin"}, "'--keygen' accepts no input file, but 'k.clbin' is given"},
      {{"--sign-message", "k.clbin", "l.clbin"}, "'--sign-message' accepts one bundle, not 2"},
      {{"--sign-message", "--counter", "0", "k.clbin"},
       "'--counter' requires a number from 1 to 18446744073709551615, not '0'"},
      {{"--sign-message", "--counter", "18446744073709551616", "k.clbin"},
       "'--counter' requires a number from 1 to 18446744073709551615, not '18446744073709551616'"},
  };
  for (const auto& [words, message] : k_cases) {
    const auto options = parse_command_line(words);
    ASSERT_FALSE(options) << message;
    EXPECT_EQ(options.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(options.error().message, message);
  }
}

TEST(OptionModes, NameWhatEncryptionLacks) {
  const std::vector<std::pair<Words, std::string>> k_cases = {
      {{"--encrypt", "k.clbin"}, "'--encrypt' needs '--encrypt-key' or '--encrypt-for'"},
      {{"--encrypt", "--encrypt-key", "c.key"}, "'--encrypt' needs a bundle"},
      {{"--encrypt", "--encrypt-key", "a", "--encrypt-key", "b", "k.clbin"},
       "'--encrypt-key' is given more than once"},
      {{"--decrypt", "k.clbin"}, "'--decrypt' needs '--decrypt-key'"},
      {{"k.cl", "--encrypt-key", "c.key", "-fsyntax-only"},
       "'--encrypt-key' and '-fsyntax-only' cannot be used together"},
      {{"k.cl", "--encrypt-for", "r.pub", "-M"},
       "'--encrypt-for' and '-M' cannot be used together"},
      {{"--keygen", "k", "--key-type", "other"},
       "'--key-type' accepts signing, content or recipient, not 'other'"},
      {{"--keygen", "k", "--key-type", "content", "--passphrase-file", "f"},
       "'--key-type content' and '--passphrase-file' cannot be used together"},
      {{"--keygen", "k", "--key-type", "recipient", "--passphrase-file", "f"},
       "'--key-type recipient' and '--passphrase-file' cannot be used together"},
  };
  for (const auto& [words, message] : k_cases) {
    const auto options = parse_command_line(words);
    ASSERT_FALSE(options) << message;
    EXPECT_EQ(options.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(options.error().message, message);
  }
}

TEST(OptionModes, EncryptTheOutputOfACompileForSeveralRecipientsAndAKey) {
  const auto options = parse_command_line(
      {"k.cl", "--encrypt-key", "c.key", "--encrypt-for", "a.pub", "--encrypt-for", "b.pub"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(options->encryption.is_requested());
  EXPECT_EQ(options->encryption.key, "c.key");
  EXPECT_EQ(options->encryption.recipients, (Words{"a.pub", "b.pub"}));
}

TEST(OptionModes, OfAReportNameWhatLimitsLack) {
  const Words report = {"--report", "k.clbin"};
  const auto options =
      parse_command_line(report + Words{"--against", "l.clbin", "--fail-on",
                                        "spills,registers+10%,scalar-registers+4,occupancy-1",
                                        "--fail-on", "size+5%"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->change_limits,
            (std::vector<ChangeLimit>{{"spills"},
                                      {"registers", 10, ChangeUnit::percent},
                                      {"scalar-registers", 4},
                                      {"occupancy", 1},
                                      {"size", 5, ChangeUnit::percent}}));
  for (const std::string text :
       {"", "x", "registers+", "registers+x", "registers-1", "occupancy+1", "spills,", "size5%",
        "registers+10%%", "scalar-registers-1", "registers+18446744073709551616", ",spills"}) {
    const auto refused =
        parse_command_line(report + Words{"--against", "l.clbin", "--fail-on=" + text});
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(refused.error().message, HasSubstr("--fail-on"));
  }
  const std::vector<std::pair<Words, std::string>> k_cases = {
      {{"--report"}, "'--report' needs a bundle or a device binary"},
      {report + Words{"--fail-on", "spills"}, "'--fail-on' needs '--against'"},
      {report + Words{"l.clbin", "--against", "m.clbin"}, "'--against' compares one file, not 2"},
      {report + Words{"--csv", "--json"}, "'--csv' and '--json' cannot be used together"},
      {report + Words{"--html", "k.html", "--json"},
       "'--html' and '--json' cannot be used together"},
  };
  for (const auto& [words, message] : k_cases) {
    const auto refused = parse_command_line(words);
    ASSERT_FALSE(refused) << message;
    EXPECT_EQ(refused.error().message, message);
  }
}

// The second lines of files of a content key and of a recipient's secret key, whole and cut.
TEST(OptionModes, PrintNoSecretKeyThatIsGivenInsteadOfAFile) {
  const std::string content = "Q0uWXYlkdZxJXBUBs0EZzClCYSZh1/NLrnuw0RvyzGaBZGYEHrMreheg";
  const std::string recipient = "WFPEzuVIH912Qh3QuoTUT+lFP/P3rG7N2cX3zO0lKyOTMffETE+t6irX";
  const std::string comment = "untrusted comment: clbin content key 3BD74C523FDACC0E\n";
  for (const std::string& text :
       {content, recipient, comment + content, content.substr(0, 45), recipient + "\r\n"}) {
    for (const Words& words : std::vector<Words>{{"--info", "k.clbin", "--decrypt-key"},
                                                 {"k.cl", "--encrypt-key"},
                                                 {"k.cl", "--encrypt-for"},
                                                 {"--keygen", "k", "--key-type"},
                                                 {"k.cl", "--sign-key"}}) {
      const auto options = parse_command_line(words + Words{text});
      ASSERT_FALSE(options);
      EXPECT_EQ(options.error().code, ErrorCode::invalid_argument);
      EXPECT_EQ(options.error().message,
                "'" + words.back() + "' requires the name of a file, not the text of a secret key");
    }
  }
  // The name of a file, and a public key.
  for (const std::string& text :
       {std::string("Q0s.key"), std::string("keys/WFP"), "WFDEzuVI" + recipient.substr(8)}) {
    EXPECT_TRUE(parse_command_line({"k.cl", "--encrypt-for", text})) << text;
  }
}

TEST(OptionModes, SignTheOutputOfACompile) {
  const auto options = parse_command_line(
      {"k.cl", "--sign-with", "c", "--public-key", "k.pub", "--counter", "18446744073709551615"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(options->signing.is_requested());
  EXPECT_EQ(options->signing.command, "c");
  EXPECT_EQ(options->public_keys, Words{"k.pub"});
  EXPECT_EQ(options->signing.counter, 18446744073709551615U);
}

// A kind of output, chosen by its suffix, and the options that apply only to it.
struct FormUse {
  Words words;
  std::set<std::string> suffixes;
};
const std::set<std::string> k_suffixes = {"clbin", "ptx", "cubin", "spv", "bin",
                                          "h",     "c",   "o",     "s",   "hpp"};
const std::vector<FormUse> k_form_uses = {
    {{"--symbol", "x"}, {"h", "c", "o", "s"}},
    {{"--embed-header", "x.h"}, {"c", "o", "s"}},
    {{"--host-triple", "aarch64-linux-gnu"}, {"o", "s"}},
    {{"--no-source"}, {"clbin", "h", "c", "o", "s"}},
    {{"--optional", "k"}, {"clbin", "h", "c", "o", "s", "hpp"}},
    {{"--emit-cubin"}, {"clbin", "cubin", "h", "c", "o", "s"}},
    {{"--sign-key", "k.key"}, {"clbin", "h", "c", "o", "s"}},
    {{"--sign-with", "c", "--public-key", "k.pub"}, {"clbin", "h", "c", "o", "s"}},
    {{"--encrypt-key", "c.key"}, {"clbin", "h", "c", "o", "s"}},
    {{"--encrypt-for", "r.pub"}, {"clbin", "h", "c", "o", "s"}},
};

TEST(OutputForms, RefuseByNameWhatWouldHaveNoEffect) {
  for (const FormUse& use : k_form_uses) {
    for (const std::string& suffix : k_suffixes) {
      SCOPED_TRACE(use.words.front() + " in " + suffix);
      const auto options = parse_command_line(Words{"k.cl", "-o", "k." + suffix} + use.words);
      ASSERT_TRUE(options) << options.error().message;
      const auto plan = plan_output(*options);
      EXPECT_EQ(plan.has_value(), use.suffixes.contains(suffix));
      if (!plan) {
        EXPECT_EQ(plan.error().code, ErrorCode::invalid_argument);
        EXPECT_THAT(plan.error().message, HasSubstr("'" + use.words.front() + "'"));
        EXPECT_THAT(plan.error().message, HasSubstr("'k." + suffix + "'"));
      }
    }
  }
}

TEST(OutputForms, ConvertABundleOrBuildItsProgramsAnew) {
  for (const std::string& suffix : k_suffixes) {
    const auto options = parse_command_line({"k.clbin", "-o", "l." + suffix});
    ASSERT_TRUE(options);
    const auto use = use_of_bundle(*options, "k.clbin");
    const bool is_converted = std::set<std::string>{"h", "c", "o", "s", "hpp"}.contains(suffix);
    ASSERT_TRUE(use) << suffix;
    EXPECT_EQ(*use, is_converted ? BundleUse::convert : BundleUse::rebuild) << suffix;
  }
}

TEST(OutputForms, OfABundleNeedAName) {
  const auto options = parse_command_line({"k.clbin", "--device", "gpu"});
  ASSERT_TRUE(options);
  const auto plan = plan_output_of_bundles(*options);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(plan.error().message,
            "'k.clbin' is a bundle: name the output with '-o'; it may be the bundle itself");
}

} // namespace
} // namespace oclcc
