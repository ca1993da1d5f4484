#include "compile/output_plan.hpp"

#include "terminal/shell_quoting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using clbin::base::ErrorCode;
using testing::ElementsAre;

std::string rule_for(const std::vector<std::filesystem::path>& files, PhonyHeaders phony) {
  const std::vector<Input> inputs = {{"k.cl", "k"}};
  const auto rule = dependency_rule({"k.d", {"k.clbin"}, phony}, files, inputs);
  EXPECT_TRUE(rule) << rule.error().message;
  return rule.value_or("");
}

Options with_input(const std::string& path) {
  Options options;
  options.inputs.push_back({path, "k"});
  return options;
}

TEST(Depfile, EscapesWhatMakeReadsAsSyntax) {
  EXPECT_EQ(escape_for_make("plain.h"), "plain.h");
  EXPECT_EQ(escape_for_make("a b.h"), "a\\ b.h");
  EXPECT_EQ(escape_for_make("a\tb.h"), "a\\\tb.h");
  EXPECT_EQ(escape_for_make("a#b.h"), "a\\#b.h");
  EXPECT_EQ(escape_for_make("a:b.h"), "a\\:b.h");
  EXPECT_EQ(escape_for_make("$(a).h"), "$$(a).h");
}

// Like gcc: a backslash escapes another one in make only if white space follows.
TEST(Depfile, DoublesBackslashesBeforeWhiteSpaceOnly) {
  EXPECT_EQ(escape_for_make("a\\b.h"), "a\\b.h");
  EXPECT_EQ(escape_for_make("a\\ b.h"), "a\\\\\\ b.h");
  EXPECT_EQ(escape_for_make("a\\\\ b.h"), "a\\\\\\\\\\ b.h");
}

TEST(Depfile, NamesEachFileOnceWithoutTheCurrentFolder) {
  EXPECT_EQ(rule_for({"k.cl", "./a.h", ".//b.h", "a.h", "../c.h"}, PhonyHeaders::no),
            "k.clbin: k.cl a.h b.h ../c.h\n");
}

TEST(Depfile, GivesEveryHeaderARuleWhereAsked) {
  EXPECT_EQ(rule_for({"k.cl", "a.h", "b c.h"}, PhonyHeaders::yes),
            "k.clbin: k.cl a.h b\\ c.h\na.h:\nb\\ c.h:\n");
}

TEST(Depfile, RefusesANameThatNoRuleCanHold) {
  const std::vector<Input> inputs = {{"k.cl", "k"}};
  const std::vector<std::filesystem::path> files = {"a\nb.h"};
  const auto rule = dependency_rule({"k.d", {"k.clbin"}, PhonyHeaders::no}, files, inputs);
  ASSERT_FALSE(rule);
  EXPECT_EQ(rule.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(rule.error().message, "a rule cannot contain a name with a line break: 'a\nb.h'");
}

TEST(Depfile, LiesBesideTheOutput) {
  const auto plan = plan_depfile(with_input("in/k.cl"), "out/k.one.clbin");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->file, "out/k.one.d");
  EXPECT_THAT(plan->targets, ElementsAre("out/k.one.clbin"));
}

TEST(Depfile, TakesTheNameAndTheTargetsItIsGiven) {
  Options options = with_input("k.cl");
  options.depfile = "rule";
  options.depfile_targets = {"$(a)", "b"};
  const auto plan = plan_depfile(options, "-");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->file, "rule");
  EXPECT_THAT(plan->targets, ElementsAre("$(a)", "b"));
}

TEST(Depfile, AloneGoesToStandardOutputAndIsNamedAfterTheInput) {
  const auto plan = plan_rule_only(with_input("in/k k.cl"));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->file, "-");
  EXPECT_THAT(plan->targets, ElementsAre("k\\ k.clbin"));
}

TEST(Depfile, AloneTakesTheOutputForItself) {
  Options options = with_input("k.cl");
  options.output = "rule";
  EXPECT_EQ(plan_rule_only(options)->file, "rule");
  EXPECT_THAT(plan_rule_only(options)->targets, ElementsAre("k.clbin"));
  options.depfile = "other";
  EXPECT_EQ(plan_rule_only(options)->file, "other");
  EXPECT_THAT(plan_rule_only(options)->targets, ElementsAre("rule"));
}

} // namespace
} // namespace oclcc
