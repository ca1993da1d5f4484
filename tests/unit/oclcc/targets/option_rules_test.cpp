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

Result<Words> words_for_spirv(const Words& options, BuildReply& reply) {
  return unit_words({{OfflineFamily::spirv, "1.2", 64}, options, {}}, k_rules, reply);
}

TEST(OptionRules, PassOptionsInOrder) {
  BuildReply reply;
  const auto words = words_for_spirv(
      {"-DA=1", "-cl-std=CL2.0", "-UB", "-cl-denorms-are-zero", "-w", "-Werror"}, reply);
  ASSERT_TRUE(words) << words.error().message;
  EXPECT_THAT(*words, ElementsAre("-DA=1", "-cl-std=CL2.0", "-UB", "-fdenormal", "-really", "-w",
                                  "-Werror"));
  EXPECT_EQ(reply.log, "");
}

TEST(OptionRules, WarnOfOptionsWithoutEffect) {
  BuildReply reply;
  const auto words = words_for_spirv({"-cl-opt-disable", "-cl-kernel-arg-info"}, reply);
  ASSERT_TRUE(words);
  EXPECT_THAT(*words, IsEmpty());
  EXPECT_EQ(reply.log, "warning: '-cl-opt-disable' has no effect on 'spirv:1.2'\n");
}

TEST(OptionRules, RefuseWhatWouldChangeTheResult) {
  BuildReply reply;
  const auto refused = words_for_spirv({"-cl-nv-arch=sm_90"}, reply);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, clbin::base::ErrorCode::invalid_argument);
  EXPECT_EQ(refused.error().message, "'-cl-nv-arch=sm_90' is not supported");
}

TEST(OptionRules, RefuseWhatNoRuleKnows) {
  for (const std::string option : {"-cl-unknown", "-cl-std", "-cl-opt-disable=1", "-O2"}) {
    BuildReply reply;
    const auto refused = words_for_spirv({option}, reply);
    ASSERT_FALSE(refused) << option;
    EXPECT_EQ(refused.error().message, "its compiler does not know the option '" + option + "'");
  }
}

} // namespace
} // namespace oclcc::offline
