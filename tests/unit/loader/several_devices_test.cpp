#include "format/bundle/known_answers.hpp"
#include "loader_fixture.hpp"

namespace clbin::loader {
namespace {

using base::ErrorCode;
using test::BinaryAnswer;
using test::installed_target;
using test::TogetherAnswer;
using test::unknown_identity;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class SeveralDevices : public test::LoaderTest {
protected:
  SeveralDevices() {
    for (const char* name : {"x", "y"}) {
      m_devices.push_back(m_driver.add_device(unknown_identity(name)));
    }
  }

  void add_both_entries() {
    add_entry(installed_target(unknown_identity("x")), "FOR X");
    add_entry(installed_target(unknown_identity("y")), "FOR Y");
    script("FOR X", BinaryAnswer::accept);
    script("FOR Y", BinaryAnswer::accept);
  }

  std::vector<cl_device_id> m_devices;
};

TEST_F(SeveralDevices, ProvesEachBinaryAloneAndThenCreatesOneProgram) {
  add_both_entries();
  add_source();
  {
    const auto program = load_for(m_devices, FallbackPolicy::if_needed);
    ASSERT_TRUE(program.has_value()) << program.error().message;
    EXPECT_EQ(m_driver.live_programs(), 1);
  }
  EXPECT_THAT(m_driver.calls(),
              ElementsAre("create_binary FOR X", "build -DV=1", "create_binary FOR Y",
                          "build -DV=1", "create_binary FOR X+FOR Y", "build -DV=1"));
  EXPECT_THAT(decisions(),
              ElementsAre("accepted Platform of x / x / 1.0", "accepted Platform of y / y / 1.0",
                          "loaded several devices"));
  EXPECT_EQ(m_report.origin, Origin::entry);
  EXPECT_EQ(m_report.attempts[1].device, 1U);
  EXPECT_EQ(m_report.attempts[2].reason, "the binaries of 2 devices in one program");
}

// The launches of the scripted driver change nothing.
TEST_F(SeveralDevices, ChecksTheKnownAnswersOfEachDevice) {
  format::KnownAnswer right{"default", "a", 1, {4, 1, 1}};
  format::LaunchArgument buffer{format::ArgumentKind::buffer};
  buffer.fill = format::Fill::iota;
  buffer.count = 4;
  right.results = {format::expected_buffer(0, buffer.type, format::fill_buffer(buffer))};
  right.arguments = {buffer};
  format::KnownAnswer wrong = right;
  wrong.kernel = "b";
  wrong.results[0].digest[0] ^= 1;
  program().variants.push_back({"wrong", "-DWRONG"});
  program().answers = {right};
  add_both_entries();
  add_source();
  wrong.variant = "wrong";
  program().answers.push_back(wrong);
  m_context = m_driver.add_context(m_devices);
  const AnswerCheck check{AnswerCheck::When::once, check_answers};
  LoadRequest request;
  request.devices = m_devices;
  request.answers = &check;
  {
    const auto program = load(request);
    ASSERT_TRUE(program.has_value()) << program.error().message;
  }
  EXPECT_THAT(m_driver.calls(),
              ElementsAre("create_binary FOR X", "build -DV=1", "create_kernel a", "launch a",
                          "create_binary FOR Y", "build -DV=1", "create_kernel a", "launch a",
                          "create_binary FOR X+FOR Y", "build -DV=1"));
  m_driver.forget_calls();
  request.variant = "wrong"; // from source, which is wrong on the first device already
  EXPECT_EQ(load(request).error().code, ErrorCode::build_failed);
  EXPECT_THAT(m_driver.calls(),
              ElementsAre("create_source", "build -DWRONG", "create_kernel b", "launch b"));
  EXPECT_EQ(m_driver.live_programs() + m_driver.live_kernels() + m_driver.live_launch_objects(), 0);
}

TEST_F(SeveralDevices, TakesTheVariantsOptionsWhereTheEntriesDiffer) {
  add_entry(installed_target(unknown_identity("x")), "FOR X", "-DX");
  add_entry(installed_target(unknown_identity("y")), "FOR Y", "-DY");
  script("FOR X", BinaryAnswer::accept);
  script("FOR Y", BinaryAnswer::accept);
  ASSERT_TRUE(load_for(m_devices, FallbackPolicy::never).has_value());
  EXPECT_THAT(m_driver.calls(),
              ElementsAre("create_binary FOR X", "build -DX", "create_binary FOR Y", "build -DY",
                          "create_binary FOR X+FOR Y", "build -DV=1"));
}

TEST_F(SeveralDevices, BuildsSourceForAllWhereOneHasNoBinary) {
  add_entry(installed_target(unknown_identity("x")), "FOR X");
  add_source();
  script("FOR X", BinaryAnswer::accept);
  const auto program = load_for(m_devices, FallbackPolicy::if_needed);
  ASSERT_TRUE(program.has_value()) << program.error().message;
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_EQ(m_driver.live_programs(), 1);
  EXPECT_EQ(m_report.attempts.back().reason,
            "device 1 has no binary: no entry matches this device");
  EXPECT_THAT(m_driver.calls(),
              ElementsAre("create_binary FOR X", "build -DV=1", "create_source", "build -DV=1"));
}

TEST_F(SeveralDevices, NamesTheDeviceWithoutABinaryUnderThePolicyNever) {
  add_entry(installed_target(unknown_identity("x")), "FOR X");
  script("FOR X", BinaryAnswer::accept);
  const auto program = load_for(m_devices, FallbackPolicy::never);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().code, ErrorCode::no_matching_entry);
  EXPECT_THAT(program.error().message, HasSubstr("'Platform of y / y / 1.0'"));
  EXPECT_EQ(m_driver.live_programs(), 0);
}

TEST_F(SeveralDevices, BuildsSourceWhereTheDriverRefusesTheBinariesTogether) {
  for (const TogetherAnswer answer :
       {TogetherAnswer::refuse_at_create, TogetherAnswer::refuse_at_build}) {
    SCOPED_TRACE(static_cast<int>(answer));
    if (program().entries.empty()) {
      add_both_entries();
      add_source();
    }
    m_driver.script_together(answer);
    {
      const auto program = load_for(m_devices, FallbackPolicy::if_needed);
      ASSERT_TRUE(program.has_value()) << program.error().message;
      EXPECT_EQ(m_driver.live_programs(), 1);
    }
    EXPECT_THAT(decisions(),
                ElementsAre("accepted Platform of x / x / 1.0", "accepted Platform of y / y / 1.0",
                            "refused several devices", "loaded source"));
    EXPECT_EQ(m_report.origin, Origin::source);
  }
}

TEST_F(SeveralDevices, SaysThatTheDriverRefusesThemTogetherWhereSourceMayNotServe) {
  add_both_entries();
  m_driver.script_together(TogetherAnswer::refuse_at_create);
  const std::string refusal =
      "the driver accepts the binaries of program 'p' one by one, but not in one program for 2 "
      "devices (clCreateProgramWithBinary: CL_INVALID_VALUE (-30))";

  const auto no_source = load_for(m_devices, FallbackPolicy::if_needed);
  ASSERT_FALSE(no_source.has_value());
  EXPECT_EQ(no_source.error().code, ErrorCode::several_devices_refused);
  EXPECT_EQ(no_source.error().message,
            refusal +
                ", and the bundle contains no source; load the program for each device separately");

  const auto never = load_for(m_devices, FallbackPolicy::never);
  ASSERT_FALSE(never.has_value());
  EXPECT_EQ(never.error().code, ErrorCode::several_devices_refused);
  EXPECT_EQ(never.error().message, refusal + ", and the caller does not allow a build from source; "
                                             "load the program for each device separately");
  EXPECT_THAT(m_driver.calls(), Not(Contains("create_source")));
  EXPECT_EQ(m_driver.live_programs(), 0);
}

} // namespace
} // namespace clbin::loader
