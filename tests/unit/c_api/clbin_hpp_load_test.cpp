// Loads through clbin.hpp, with raw handles and a scripted driver.
#include "clbin/clbin.hpp"

#include "format/bundle/bundle_surgery.hpp"
#include "format/bundle/known_answers.hpp"
#include "support/bundle_samples.hpp"
#include "support/fake_driver.hpp"
#include "support/sample_bundle.hpp"
#include "support/sample_identities.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ClbinHppLoad : public ::testing::Test {
protected:
  ClbinHppLoad() { m_options.resolver(&test::FakeDriver::resolve, &m_driver); }

  base::Bytes m_bytes = test::sample_bundle();
  Bundle m_bundle = Bundle::from_memory(m_bytes);
  test::FakeDriver m_driver;
  cl_device_id m_device = m_driver.add_device(test::unknown_identity("d"));
  cl_context m_context = m_driver.add_context({m_device});
  LoadOptions m_options;
};

TEST_F(ClbinHppLoad, HandsOutAProgramToBeReleased) {
  m_driver.script_binary(test::k_sample_payload,
                         {test::BinaryAnswer::accept, {"saxpy"}, "", CL_SUCCESS});
  Report report;
  cl_program program = m_bundle.load(m_context, m_device, "saxpy", m_options, &report);
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(m_driver.live_programs(), 1);
  m_driver.functions().ReleaseProgram(program);
  EXPECT_EQ(report.origin(), Origin::entry);
  ASSERT_EQ(report.attempts().size(), 1U);
  EXPECT_EQ(report.attempts()[0].decision, Decision::loaded);
  EXPECT_EQ(report.attempts()[0].rule, "exact identity");
  EXPECT_EQ(report.attempts()[0].rule_number, Rule::exact_identity);
}

// The sample with a known answer, that the kernel changes nothing, and a measurement.
base::Bytes measured_bundle() {
  auto input = format::unpack_bundle(test::must_open(test::sample_bundle())).value();
  format::ProgramInput& program = input.programs.front();
  format::Measurement measurement = test::sample_measurement("default", "d", 1000);
  measurement.kernel = "saxpy";
  measurement.local_size = {64, 1, 1};
  measurement.device = format::measured_device(test::unknown_identity("d"), 0);
  measurement.source =
      base::to_hex(base::digest_of(format::encode_source_package(*program.source)));
  program.measurements = {measurement};
  format::KnownAnswer answer{"default", "saxpy", 1, {4, 1, 1}};
  format::LaunchArgument buffer{format::ArgumentKind::buffer};
  buffer.count = 4;
  answer.results = {format::expected_buffer(0, buffer.type, format::fill_buffer(buffer))};
  answer.arguments = {buffer};
  program.answers = {answer};
  return test::must_write(input);
}

TEST_F(ClbinHppLoad, ChecksKnownAnswersAndRecommendsAWorkGroup) {
  const base::Bytes bytes = measured_bundle();
  const Bundle bundle = Bundle::from_memory(bytes);
  m_driver.script_binary(test::k_sample_payload,
                         {test::BinaryAnswer::accept, {"saxpy"}, "", CL_SUCCESS});
  Report report;
  m_options.check_answers(Answers::always, 60'000);
  m_driver.functions().ReleaseProgram(
      bundle.load(m_context, m_device, "saxpy", m_options, &report));
  EXPECT_THAT(report.attempts().at(0).reason, HasSubstr("gives its known answers"));
  const std::size_t limit = 256;
  m_driver.script_device_value(m_device, CL_DEVICE_MAX_WORK_GROUP_SIZE,
                               {reinterpret_cast<const char*>(&limit), sizeof limit});
  const auto recommended = [&](std::size_t items) {
    const std::vector<std::size_t> global = {items};
    return bundle.recommended_size(m_device, "saxpy", "saxpy", global, "default", m_options);
  };
  EXPECT_THAT(recommended(1024), ElementsAre(64U));
  EXPECT_THAT(recommended(1), ElementsAre());
  EXPECT_THROW((void)recommended(0), Error);
}

TEST_F(ClbinHppLoad, AsksADeviceForItsIdentity) {
  const Identity identity = query_identity(m_device, m_options);
  EXPECT_EQ(identity.device_name, "d");
  EXPECT_THAT(identity.opencl_c_versions, ElementsAre("OpenCL C 1.2"));
  EXPECT_EQ(m_bundle.select(identity, "saxpy").rule_number(), Rule::exact_identity);
}

TEST_F(ClbinHppLoad, CallsBackAlsoAfterTheOptionsWereMoved) {
  std::vector<std::string> seen;
  m_options.on_attempt([&](const Attempt& attempt) { seen.push_back(attempt.rule); });
  const LoadOptions moved = std::move(m_options);
  cl_program program = m_bundle.load(m_context, m_device, "saxpy", moved);
  m_driver.functions().ReleaseProgram(program);
  EXPECT_THAT(seen, ElementsAre("exact identity", "user cache", "not compatible", "source"));
}

TEST_F(ClbinHppLoad, ThrowsTheBuildLogAndFillsTheReport) {
  m_driver.script_source({CL_BUILD_PROGRAM_FAILURE, {}, "saxpy.cl:1:1: error: no"});
  m_options.fallback(Fallback::always).build_options("-DX");
  Report report;
  try {
    (void)m_bundle.load(m_context, m_device, "saxpy", m_options, &report);
    FAIL() << "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CLBIN_ERROR_BUILD_FAILED);
    EXPECT_THAT(error.what(), HasSubstr("saxpy.cl:1:1: error: no"));
  }
  EXPECT_EQ(report.origin(), Origin::none);
  EXPECT_THAT(report.text(), HasSubstr("refused, source"));
}

TEST_F(ClbinHppLoad, LoadsForSeveralDevices) {
  cl_device_id other = m_driver.add_device(test::unknown_identity("e"));
  cl_context context = m_driver.add_context({m_device, other});
  const std::vector<_cl_device_id*> devices = {m_device, other};
  Report report;
  cl_program program = m_bundle.load(context, devices, "saxpy", m_options, &report);
  m_driver.functions().ReleaseProgram(program);
  EXPECT_EQ(report.origin(), Origin::source);
}

} // namespace
} // namespace clbin
