#include "layer/layer_settings.hpp"

#include <gtest/gtest.h>

namespace clbin::layer {
namespace {

using Subject = OptionRule::Subject;
using Action = OptionRule::Action;

constexpr RuledProgram k_ruled_program{"0123abcd",
                                       "kernel void blur(global int* a) { blur_all(a); }"};

TEST(OptionRules, LeaveOtherProgramsAlone) {
  const std::vector<OptionRule> rules{{Subject::program, "fffffff0", Action::append, "-DA"},
                                      {Subject::kernel, "sharpen", Action::replace, "-DB"},
                                      {Subject::kernel, "blu", Action::append, "-DC"},
                                      {Subject::kernel, "lur_all", Action::append, "-DD"}};
  EXPECT_EQ(apply_rules(rules, k_ruled_program, "-O2"), "-O2");
}

TEST(OptionRules, ChooseByTheFirstDigitsOfTheDigest) {
  EXPECT_EQ(
      apply_rules({{Subject::program, "0123", Action::append, "-DA"}}, k_ruled_program, "-O2"),
      "-O2 -DA");
  EXPECT_EQ(
      apply_rules({{Subject::program, "123a", Action::append, "-DA"}}, k_ruled_program, "-O2"),
      "-O2");
}

TEST(OptionRules, ChooseByAKernelNamedAsAWholeWord) {
  EXPECT_EQ(apply_rules({{Subject::kernel, "blur", Action::append, "-DA"}}, k_ruled_program, ""),
            "-DA");
}

TEST(OptionRules, ApplyInOrder) {
  const std::vector<OptionRule> rules{{Subject::kernel, "blur", Action::append, "-DA"},
                                      {Subject::program, "0123", Action::replace, "-DB"},
                                      {Subject::kernel, "blur", Action::append, "-DC"}};
  EXPECT_EQ(apply_rules(rules, k_ruled_program, "-O2"), "-DB -DC");
}

TEST(OptionRules, ReplaceByNothing) {
  EXPECT_EQ(apply_rules({{Subject::kernel, "blur", Action::replace, ""}}, k_ruled_program, "-O2"),
            "");
}

} // namespace
} // namespace clbin::layer
