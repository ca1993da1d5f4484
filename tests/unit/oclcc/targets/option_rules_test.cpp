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

TEST(Extensions, AreRequestedWithASign) {
  const auto names = requested_extensions({"-w", "-cl-ext=+a,+b", "-cl-ext=+c", "-cl-ext="});
  ASSERT_TRUE(names) << names.error().message;
  EXPECT_THAT(*names, ElementsAre("a", "b", "c"));
  for (const std::string option : {"-cl-ext=a", "-cl-ext=+a,b", "-cl-ext=-a", "-cl-ext=+"}) {
    const auto refused = requested_extensions({option});
    ASSERT_FALSE(refused) << option;
    EXPECT_EQ(refused.error().code, clbin::base::ErrorCode::invalid_argument);
    EXPECT_EQ(refused.error().message,
              "'" + option + "': extensions are requested as '+NAME,+NAME'");
  }
}

TEST(Extensions, AreNamedIfTheCompilerLacksThem) {
  EXPECT_EQ(extension_checks({"a", "b"}), "#ifndef a\n#error oclcc: no extension a\n#endif\n"
                                          "#ifndef b\n#error oclcc: no extension b\n#endif\n"
                                          "#line 1\n");
  BuildReply reply;
  reply.cl_code = -11;
  reply.log = "kernel.cl:5:2: error: oclcc: no extension b\n#error oclcc: no extension b\n";
  const auto refused = require_extensions(reply);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "its compiler does not have the extension 'b'");
  EXPECT_EQ(reply.log, "");
  EXPECT_EQ(reply.cl_code, 0);
  reply.cl_code = -11;
  reply.log = "kernel.cl:5:2: error: other\n";
  EXPECT_TRUE(require_extensions(reply));
}

} // namespace
} // namespace oclcc::offline
