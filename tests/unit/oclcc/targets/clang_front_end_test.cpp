#include "targets/clang_front_end.hpp"

#include "base/file_io.hpp"

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

TEST(Resolution, NamesFunctionsAsTheSourceDoes) {
  EXPECT_EQ(source_name("_Z4sqrtDv2_f"), "sqrt");
  EXPECT_EQ(source_name("_Z12__oclcc_passPU3AS4Kc"), "printf");
  EXPECT_EQ(source_name("helper"), "helper");
  EXPECT_EQ(source_name("_Z9sqrtf"), "_Z9sqrtf");
  EXPECT_EQ(source_name("_Z"), "_Z");
  EXPECT_EQ(source_name("_Z99999999999999999999x"), "_Z99999999999999999999x");
}

TEST(Resolution, RefusesWhatNothingDefines) {
  EXPECT_TRUE(require_resolved({}));
  EXPECT_EQ(require_resolved({"_Z3foof", "_Z3food"}).error().message,
            "nothing defines the function 'foo'");
  EXPECT_EQ(require_resolved({"_Z3foof", "bar"}).error().message,
            "nothing defines the functions 'bar', 'foo'");
}

std::string text_of(const std::filesystem::path& file) {
  const auto bytes = clbin::base::read_whole_file(file, 1U << 20U);
  return bytes ? std::string(clbin::base::as_text(*bytes)) : bytes.error().message;
}

class SourceFiles : public ::testing::Test {
protected:
  clbin::base::TemporaryFolder m_folder =
      clbin::base::TemporaryFolder::create({}, "oclcc-test-").value();
};

TEST_F(SourceFiles, HaveTheNamesOfIncludeLines) {
  clbin::format::SourcePackage source;
  source.main = {"k.cl", "src/k.cl", "main\n"};
  source.headers = {{"a.h", "inc/a.h", "a\n"}, {"x/y/b.h", "inc/x/y/b.h", "b\n"}};
  const auto written = write_source_files(source, m_folder.path());
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(text_of(m_folder.path() / "kernel.cl"), "main\n");
  EXPECT_EQ(text_of(m_folder.path() / "include/a.h"), "a\n");
  EXPECT_EQ(text_of(m_folder.path() / "include/x/y/b.h"), "b\n");
}

TEST_F(SourceFiles, StayInTheirFolder) {
  for (const std::string name : {"../a.h", "/tmp/a.h", "x/../../a.h"}) {
    clbin::format::SourcePackage source;
    source.headers = {{name, name, "a\n"}};
    const auto written = write_source_files(source, m_folder.path());
    ASSERT_FALSE(written) << name;
    EXPECT_EQ(written.error().code, clbin::base::ErrorCode::invalid_argument);
    EXPECT_EQ(written.error().message,
              "cannot write the header '" + name + "': its name is not a relative path");
  }
}

TEST_F(SourceFiles, CannotBeAFileAndAFolder) {
  clbin::format::SourcePackage source;
  source.headers = {{"a", "a", "a\n"}, {"a/b.h", "a/b.h", "b\n"}};
  const auto written = write_source_files(source, m_folder.path());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, clbin::base::ErrorCode::file_write);
}

// Their functions are oclcc's, hence clang is the only tool, and clang 22 serves, too.
TEST(ToolsOfNvidia, AreOfEachTestedReleaseOfClang) {
  for (const OfflineFamily family : {OfflineFamily::nvptx, OfflineFamily::cubin}) {
    std::vector<std::string> rows;
    for (const ToolRow& row : family_compiler(family).tools_for({family, "sm_90", 64})) {
      EXPECT_EQ(row.tools.size(), family == OfflineFamily::nvptx ? 1U : 2U);
      rows.push_back(row.tools.front().file);
    }
    EXPECT_THAT(rows, ElementsAre("clang-15", "clang-19", "clang-18", "clang-17", "clang-22"));
  }
}

TEST(ToolsOfSpirv, AreOfOneTestedRelease) {
  std::vector<std::string> rows;
  for (const ToolRow& row :
       family_compiler(OfflineFamily::spirv).tools_for({OfflineFamily::spirv, "1.2", 64})) {
    rows.push_back(row.tools[0].file + " " + row.tools[1].file);
  }
  EXPECT_THAT(rows, ElementsAre("clang-15 llvm-spirv-15", "clang-19 llvm-spirv-19",
                                "clang-18 llvm-spirv-18", "clang-17 llvm-spirv-17",
                                "clang-22 llvm-spirv-22"));
}

} // namespace
} // namespace oclcc::offline
