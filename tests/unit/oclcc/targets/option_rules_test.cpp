#include "targets/clang_front_end.hpp"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc::offline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::array k_rules = {
    OptionRule{"-cl-std="},
    OptionRule{"-cl-denorms-are-zero", OptionEffect::pass, {"-fdenormal", "-really"}},
    OptionRule{"-cl-kernel-arg-info", OptionEffect::ignore},
    OptionRule{"-cl-opt-disable", OptionEffect::warn},
    OptionRule{"-cl-nv-arch=", OptionEffect::refuse},
};

TEST(OptionRules, PassOptionsInOrder) {
  const auto words = compiler_words(
      {"-DA=1", "-cl-std=CL2.0", "-UB", "-cl-denorms-are-zero", "-w", "-Werror"}, k_rules, "t");
  ASSERT_TRUE(words) << words.error().message;
  EXPECT_THAT(words->words, ElementsAre("-DA=1", "-cl-std=CL2.0", "-UB", "-fdenormal", "-really",
                                        "-w", "-Werror"));
  EXPECT_THAT(words->warnings, IsEmpty());
}

TEST(OptionRules, WarnOfOptionsWithoutEffect) {
  const auto words = compiler_words({"-cl-opt-disable", "-cl-kernel-arg-info"}, k_rules, "t:1");
  ASSERT_TRUE(words);
  EXPECT_THAT(words->words, IsEmpty());
  EXPECT_THAT(words->warnings, ElementsAre("'-cl-opt-disable' has no effect on 't:1'"));
}

TEST(OptionRules, RefuseWhatWouldChangeTheResult) {
  const auto refused = compiler_words({"-cl-nv-arch=sm_90"}, k_rules, "t:1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, clbin::base::ErrorCode::invalid_argument);
  EXPECT_EQ(refused.error().message, "'-cl-nv-arch=sm_90' is not supported");
}

TEST(OptionRules, RefuseWhatNoRuleKnows) {
  for (const std::string option : {"-cl-unknown", "-cl-std", "-cl-opt-disable=1", "-O2"}) {
    const auto refused = compiler_words({option}, k_rules, "t:1");
    ASSERT_FALSE(refused) << option;
    EXPECT_EQ(refused.error().message, "its compiler does not know the option '" + option + "'");
  }
}

} // namespace
} // namespace oclcc::offline
