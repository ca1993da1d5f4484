#include "opencl/program_build.hpp"
#include "support/fake_driver.hpp"
#include "support/sample_identities.hpp"

#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::opencl {
namespace {

using test::BinaryAnswer;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class BuildFromBinary : public ::testing::Test {
protected:
  BuildOutcome build(BinaryAnswer answer, const std::vector<std::string>& expected_kernels,
                     const std::string& log = "") {
    m_driver.script_binary("BYTES", {answer, {"a", "b"}, log, CL_BUILD_PROGRAM_FAILURE});
    return build_from_binary(m_driver.functions(), m_context, m_device, base::as_bytes("BYTES"),
                             "-DX=1", expected_kernels);
  }

  test::FakeDriver m_driver;
  cl_device_id m_device = m_driver.add_device(test::unknown_identity("d"));
  cl_context m_context = m_driver.add_context({m_device});
};

TEST_F(BuildFromBinary, SucceedsWhenCreateBuildAndKernelsAreThere) {
  const BuildOutcome outcome = build(BinaryAnswer::accept, {"b", "a"});
  EXPECT_EQ(outcome.code, CL_SUCCESS);
  EXPECT_TRUE(outcome.program);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary BYTES", "build -DX=1"));
}

TEST_F(BuildFromBinary, KeepsTheLogOfASuccess) {
  EXPECT_EQ(build(BinaryAnswer::accept, {"a"}, "warning: rebuilt from IR\n\n").log,
            "warning: rebuilt from IR");
}

TEST_F(BuildFromBinary, KeepsBothEndsOfALongLogInWholeLines) {
  constexpr std::size_t k_limit_bytes = 1U << 20U;
  const std::string line = "warning: one of many\n";
  std::string log = "first\n";
  while (log.size() <= 2 * k_limit_bytes) {
    log += line;
  }
  log += "error: the last";
  const std::string kept = build(BinaryAnswer::accept, {"a"}, log).log;
  EXPECT_LE(kept.size(), k_limit_bytes + 100);
  EXPECT_GE(kept.size(), k_limit_bytes - 100);
  EXPECT_TRUE(kept.starts_with("first\n" + line));
  EXPECT_TRUE(kept.ends_with(line + "error: the last"));
  const std::size_t note = kept.find("(");
  ASSERT_NE(note, std::string::npos);
  EXPECT_EQ(kept.substr(note - line.size(), line.size()), line);
  const std::size_t note_end = kept.find('\n', note);
  EXPECT_EQ(kept.substr(note, note_end - note),
            std::to_string(log.size() - kept.size() + (note_end + 1 - note))
                .insert(0, "(")
                .append(" bytes of the build log are omitted)"));
  EXPECT_EQ(kept.substr(note_end + 1, line.size()), line);
}

TEST(BothEnds, KeepsAShortFirstLineTogetherWithALongOne) {
  const std::string log = "first\n" + std::string(1000, 'x');
  EXPECT_EQ(both_ends(log, 100), "first\n" + std::string(44, 'x') +
                                     "\n(906 bytes of the build log are omitted)\n" +
                                     std::string(50, 'x'));
  EXPECT_EQ(both_ends(log, log.size()), log);
}

TEST_F(BuildFromBinary, CutsALogOfOneLineInTheMiddle) {
  constexpr std::size_t k_limit_bytes = 1U << 20U;
  const std::string log(k_limit_bytes, 'x');
  EXPECT_EQ(build(BinaryAnswer::accept, {"a"}, log).log, log);
  const std::string half(k_limit_bytes / 2, 'x');
  EXPECT_EQ(build(BinaryAnswer::accept, {"a"}, half + "yz" + half).log,
            half + "\n(2 bytes of the build log are omitted)\n" + half);
}

TEST_F(BuildFromBinary, TakesEveryStyleOfRefusalAtCreateForARefusal) {
  for (const BinaryAnswer answer :
       {BinaryAnswer::refuse, BinaryAnswer::refuse_with_program,
        BinaryAnswer::refuse_with_status_success, BinaryAnswer::refuse_by_status_only,
        BinaryAnswer::refuse_without_error}) {
    SCOPED_TRACE(static_cast<int>(answer));
    {
      const BuildOutcome outcome = build(answer, {"a"});
      EXPECT_FALSE(outcome.program);
      EXPECT_EQ(outcome.code, CL_INVALID_BINARY);
      EXPECT_EQ(outcome.stage, "clCreateProgramWithBinary");
    }
    EXPECT_EQ(m_driver.live_programs(), 0);
  }
  EXPECT_THAT(m_driver.calls(), Not(Contains(HasSubstr("build"))));
}

TEST_F(BuildFromBinary, GivesCodeAndLogOfARefusalAtBuild) {
  const BuildOutcome outcome =
      build(BinaryAnswer::refuse_at_build, {"a"}, "Binary format is not recognized");
  EXPECT_FALSE(outcome.program);
  EXPECT_EQ(outcome.code, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_EQ(outcome.stage, "clBuildProgram");
  EXPECT_EQ(outcome.log, "Binary format is not recognized");
  EXPECT_EQ(m_driver.live_programs(), 0);
}

TEST_F(BuildFromBinary, RefusesAProgramThatLostAKernel) {
  const BuildOutcome outcome = build(BinaryAnswer::lose_kernels, {"a"});
  EXPECT_FALSE(outcome.program);
  EXPECT_EQ(outcome.code, CL_INVALID_KERNEL_NAME);
  EXPECT_EQ(outcome.stage, "clGetProgramInfo");
  EXPECT_EQ(outcome.log, "the program has no kernel 'a'");
  EXPECT_EQ(m_driver.live_programs(), 0);
}

TEST_F(BuildFromBinary, CreatesTheKernelsWhereTheirNamesCannotBeAsked) {
  const BuildOutcome outcome = build(BinaryAnswer::hide_kernel_names, {"a", "b"});
  EXPECT_EQ(outcome.code, CL_SUCCESS);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary BYTES", "build -DX=1", "create_kernel a",
                                            "create_kernel b"));
  EXPECT_EQ(m_driver.live_kernels(), 0);
}

TEST_F(BuildFromBinary, RefusesAProgramWhoseKernelsCannotBeCreated) {
  const BuildOutcome outcome = build(BinaryAnswer::hide_kernel_names_and_kernels, {"a"});
  EXPECT_FALSE(outcome.program);
  EXPECT_EQ(outcome.code, CL_INVALID_KERNEL_NAME);
  EXPECT_EQ(outcome.stage, "clCreateKernel");
  EXPECT_EQ(outcome.log, "kernel 'a' cannot be created");
  EXPECT_EQ(m_driver.live_programs(), 0);
}

// rusticl 22.3 does so after a second build of a program.
TEST_F(BuildFromBinary, ListsAKernelOnceThatTheDriverListsTwice) {
  m_driver.script_binary("TWICE", {BinaryAnswer::accept, {"b", "a", "b", "a"}, "", CL_SUCCESS});
  const BuildOutcome outcome = build_from_binary(m_driver.functions(), m_context, m_device,
                                                 base::as_bytes("TWICE"), "", {"a", "b"});
  EXPECT_EQ(outcome.code, CL_SUCCESS);
  EXPECT_THAT(program_kernel_names(m_driver.functions(), outcome.program.get()).value(),
              ElementsAre("b", "a"));
}

class BuildFromSource : public ::testing::Test {
protected:
  BuildOutcome build(const std::vector<format::SourceFile>& headers, const std::string& options) {
    const format::SourcePackage source{{"m.cl", "m.cl", "kernel void a() {}"}, headers};
    return build_from_source(m_functions, m_context, {m_device}, source, options);
  }

  test::FakeDriver m_driver;
  Driver m_functions = m_driver.functions();
  cl_device_id m_device = m_driver.add_device(test::unknown_identity("d"));
  cl_context m_context = m_driver.add_context({m_device});
};

TEST_F(BuildFromSource, BuildsInOneCallWithoutHeaders) {
  EXPECT_EQ(build({}, "-cl-mad-enable").code, CL_SUCCESS);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -cl-mad-enable"));
}

TEST_F(BuildFromSource, CompilesWithHeadersAndLinksWithWhatTheLinkerTakes) {
  EXPECT_EQ(build({{"sub/x.h", "x.h", "x"}, {"y.h", "y.h", "y"}},
                  "-DA=-cl-finite-math-only  -cl-fast-relaxed-math\t-w -cl-denorms-are-zero")
                .code,
            CL_SUCCESS);
  EXPECT_THAT(m_driver.calls(),
              ElementsAre("create_source", "create_source", "create_source",
                          "compile -DA=-cl-finite-math-only  -cl-fast-relaxed-math\t-w "
                          "-cl-denorms-are-zero with sub/x.h,y.h",
                          "link -cl-fast-relaxed-math -cl-denorms-are-zero"));
  EXPECT_EQ(m_driver.live_programs(), 0);
}

TEST_F(BuildFromSource, LinksWithNoOptionOfAValue) {
  const std::string options = "-DA=\"x -cl-finite-math-only y\" -D -cl-mad-enable\n"
                              "-cl-unsafe-math-optimizations -DB='-cl-kernel-arg-info '";
  EXPECT_EQ(build({{"x.h", "x.h", "x"}}, options).code, CL_SUCCESS);
  EXPECT_THAT(m_driver.calls(),
              ElementsAre("create_source", "create_source", "compile " + options + " with x.h",
                          "link -cl-unsafe-math-optimizations"));
}

TEST_F(BuildFromSource, SaysThatHeadersNeedClCompileProgram) {
  m_functions.CompileProgram = nullptr;
  const BuildOutcome outcome = build({{"x.h", "x.h", "x"}}, "");
  EXPECT_FALSE(outcome.program);
  EXPECT_EQ(outcome.code, CL_INVALID_OPERATION);
  EXPECT_EQ(outcome.stage, "clCompileProgram");
  EXPECT_THAT(outcome.log, HasSubstr("embedded headers require clCompileProgram"));
  EXPECT_EQ(m_driver.live_programs(), 0);
}

TEST_F(BuildFromSource, GivesCodeStageAndLogOfAFailedCompile) {
  m_driver.script_source({CL_COMPILE_PROGRAM_FAILURE, {}, "x.h:1:1: error: no\n"});
  const BuildOutcome outcome = build({{"x.h", "x.h", "x"}}, "");
  EXPECT_FALSE(outcome.program);
  EXPECT_EQ(outcome.code, CL_COMPILE_PROGRAM_FAILURE);
  EXPECT_EQ(outcome.stage, "clCompileProgram");
  EXPECT_EQ(outcome.log, "x.h:1:1: error: no");
  EXPECT_EQ(m_driver.live_programs(), 0);
}

TEST(KernelCreation, IsUnsafeOnRusticlBefore25) {
  const auto is_safe = [](const char* platform, const char* version) {
    format::DeviceIdentity identity;
    identity.platform_name = platform;
    identity.driver_version = version;
    return creates_kernels_safely(identity);
  };
  EXPECT_FALSE(is_safe("rusticl", "22.3.6"));
  EXPECT_FALSE(is_safe("rusticl", ""));
  EXPECT_TRUE(is_safe("rusticl", "25.0.7-2+deb13u1"));
  EXPECT_TRUE(is_safe("rusticl", "100.1"));
  EXPECT_TRUE(is_safe("Portable Computing Language", "3.1+debian"));
}

// SPIR-V 1.0 that declares these capabilities, and nothing else.
base::Bytes module_with(const std::vector<std::uint32_t>& capabilities,
                        std::uint32_t addressing_model = 2) {
  std::vector<std::uint32_t> words = {0x07230203U, 0x00010000U, 0, 10, 0};
  for (const std::uint32_t capability : capabilities) {
    words.insert(words.end(), {2U << 16U | 17U, capability}); // OpCapability
  }
  words.insert(words.end(), {3U << 16U | 14U, addressing_model, 2}); // OpMemoryModel OpenCL
  base::Bytes bytes(words.size() * sizeof(std::uint32_t));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

TEST_F(BuildFromBinary, ShowsTheDriverNoModuleThatRequiresWhatTheDeviceLacks) {
  const auto build_il = [&](const std::vector<std::uint32_t>& capabilities) {
    return build_from_il(m_driver.functions(), m_context, {m_device}, module_with(capabilities), {},
                         "", {});
  };
  const BuildOutcome refused = build_il({4, 6, 10});
  EXPECT_EQ(refused.code, CL_INVALID_VALUE);
  EXPECT_EQ(refused.stage, "clCreateProgramWithIL");
  EXPECT_EQ(refused.log, "the module requires the capability Float64 of SPIR-V, which the device "
                         "'d' does not accept");
  EXPECT_THAT(m_driver.calls(), ::testing::IsEmpty());
  m_driver.script_device_value(m_device, CL_DEVICE_EXTENSIONS, "cl_khr_fp64");
  (void)build_il({4, 6, 10});
  EXPECT_THAT(m_driver.calls(), Not(::testing::IsEmpty()));
}

// PoCL 6 ends the process over Physical32 on a device with 64-bit addresses, and Intel's CPU
// runtime over PhysicalStorageBuffer64.
TEST_F(BuildFromBinary, ShowsTheDriverNoModuleForOtherAddresses) {
  for (const auto& [model, name] :
       {std::pair{1U, "Physical32"}, {5348U, "5348"}, {0U, "Logical"}}) {
    const BuildOutcome refused = build_from_il(m_driver.functions(), m_context, {m_device},
                                               module_with({4, 6}, model), {}, "", {});
    EXPECT_EQ(refused.code, CL_INVALID_VALUE);
    EXPECT_EQ(refused.log, fmt::format("the module requires the addressing model {} of SPIR-V, "
                                       "which the device 'd' does not accept",
                                       name));
  }
  EXPECT_THAT(m_driver.calls(), ::testing::IsEmpty());
}

} // namespace
} // namespace clbin::opencl
