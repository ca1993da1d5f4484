#include "loader_fixture.hpp"

#include "base/file_io.hpp"
#include "opencl/device_query.hpp"

namespace clbin::loader {
namespace {

using base::ErrorCode;
using test::BinaryAnswer;
using test::spirv;
using test::spirv_target;
using test::unknown_identity;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class IlStepTest : public test::LoaderTest {
protected:
  void add_il(unsigned minor) {
    add_entry(spirv_target(minor), spirv(minor), "-cl-mad-enable");
    script(spirv(minor), BinaryAnswer::accept);
  }

  cl_device_id add_device(const std::vector<std::string>& il_versions) {
    auto identity = unknown_identity("d");
    identity.il_versions = il_versions;
    return m_driver.add_device(identity);
  }

  [[nodiscard]] LoadRequest request_with_constant(cl_device_id device, std::uint32_t id) {
    m_context = m_driver.add_context({device});
    LoadRequest request;
    request.devices = {device};
    request.constants = {{id, {std::byte{7}, std::byte{0}}}};
    return request;
  }
};

TEST_F(IlStepTest, BuildsTheNewestIlThatTheDeviceTakes) {
  for (const unsigned minor : {0U, 2U, 4U}) {
    add_il(minor);
  }
  add_source();
  {
    const auto program =
        load_for({add_device({"SPIR-V_1.0", "SPIR-V_1.3"})}, FallbackPolicy::if_needed);
    ASSERT_TRUE(program.has_value()) << program.error().message;
    EXPECT_EQ(m_driver.live_programs(), 1);
  }
  EXPECT_EQ(m_report.origin, Origin::il);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_il of 32 bytes", "build -cl-mad-enable"));
  EXPECT_THAT(decisions(), ElementsAre("not attempted spirv:1.4", "loaded spirv:1.2"));
  EXPECT_EQ(m_report.attempts[0].reason,
            "this device accepts 'SPIR-V_1.0 SPIR-V_1.3', but not SPIR-V 1.4");
  EXPECT_EQ(to_string(m_report.attempts[1].rule), "IL");
  EXPECT_EQ(m_report.attempts[1].origin, Origin::il);
  EXPECT_EQ(m_report.attempts[1].reason,
            "the driver compiles SPIR-V 1.2, because it accepts SPIR-V_1.3");
}

TEST_F(IlStepTest, GoesOnToOlderIlAndThenToSource) {
  add_il(0);
  add_il(2);
  add_source();
  script(spirv(2), BinaryAnswer::refuse_at_build, "no");
  cl_device_id device = add_device({"SPIR-V_1.2"});
  ASSERT_TRUE(load_for({device}, FallbackPolicy::if_needed).has_value());
  EXPECT_THAT(decisions(), ElementsAre("refused spirv:1.2", "loaded spirv:1.0"));
  EXPECT_EQ(m_report.attempts[0].driver_log, "no");
  script(spirv(0), BinaryAnswer::lose_kernels);
  ASSERT_TRUE(load_for({device}, FallbackPolicy::if_needed).has_value());
  EXPECT_THAT(decisions(), ElementsAre("refused spirv:1.2", "refused spirv:1.0", "loaded source"));
}

TEST_F(IlStepTest, OffersNoIlToADeviceThatListsNone) {
  add_il(0);
  add_source();
  for (const std::vector<std::string>& versions :
       {std::vector<std::string>(), {"SPIR-V_2.0"}, {"SPIR-V_1."}, {"SPIR-V_x.1"}, {"OTHER_1.2"}}) {
    m_driver.forget_calls();
    m_context = nullptr;
    ASSERT_TRUE(load_for({add_device(versions)}, FallbackPolicy::if_needed).has_value());
    EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DV=1"));
    EXPECT_THAT(decisions(), ElementsAre("not attempted spirv:1.0", "loaded source"));
  }
}

TEST_F(IlStepTest, IsNoRungUnderThePoliciesNeverAndAlways) {
  add_il(0);
  add_source();
  cl_device_id device = add_device({"SPIR-V_1.2"});
  EXPECT_FALSE(load_for({device}, FallbackPolicy::never).has_value());
  EXPECT_THAT(m_driver.calls(), IsEmpty());
  EXPECT_TRUE(load_for({device}, FallbackPolicy::always).has_value());
  EXPECT_EQ(m_report.origin, Origin::source);
}

TEST_F(IlStepTest, IsPassedOverWhereOptionsAreForThePreprocessor) {
  add_il(0);
  add_source();
  cl_device_id device = add_device({"SPIR-V_1.2"});
  m_context = m_driver.add_context({device});
  LoadRequest request;
  request.devices = {device};
  request.extra_options = "-DN=1";
  ASSERT_TRUE(load(request).has_value());
  EXPECT_EQ(m_report.origin, Origin::source);
}

TEST_F(IlStepTest, SetsSpecialisationConstantsBeforeTheBuild) {
  add_il(0);
  add_source();
  const auto program = load(request_with_constant(add_device({"SPIR-V_1.2"}), 3));
  ASSERT_TRUE(program.has_value()) << program.error().message;
  EXPECT_THAT(m_driver.calls(),
              ElementsAre("create_il of 32 bytes", "set_constant 3 0700", "build -cl-mad-enable"));
}

TEST_F(IlStepTest, BuildsNoSourceThatKnowsNothingOfTheConstants) {
  add_il(0);
  add_source();
  const auto no_il = load(request_with_constant(add_device({}), 3));
  ASSERT_FALSE(no_il.has_value());
  EXPECT_EQ(no_il.error().code, ErrorCode::no_matching_entry);
  EXPECT_EQ(no_il.error().message,
            "program 'p' for 'Platform of d / d / 1.0' with specialisation constants needs IL that "
            "the device accepts, and the bundle contains none");

  const auto unknown =
      load(request_with_constant(add_device({"SPIR-V_1.2"}), test::FakeDriver::k_unknown_constant));
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code, ErrorCode::binary_refused);
  EXPECT_THAT(unknown.error().message,
              HasSubstr("clSetProgramSpecializationConstant: CL_INVALID_SPEC_ID"));
  EXPECT_EQ(m_report.attempts.back().driver_log, "specialisation constant 99 of 2 bytes");
  EXPECT_THAT(m_driver.calls(), Not(Contains("create_source")));
  EXPECT_EQ(m_driver.live_programs(), 0);
}

TEST_F(IlStepTest, KeepsWhatItBuiltByItsConstants) {
  const auto folder = base::TemporaryFolder::create({}, "clbin-il-test-").value();
  cache::CacheSettings settings = cache::CacheSettings::from_environment(cache::this_process());
  settings.use = cache::CacheUse::on;
  settings.folder = folder.path() / "clbin";
  add_il(0);
  m_driver.script_source({CL_SUCCESS, {}, "", "BUILT"}); // the binary that the program returns
  script("BUILT", BinaryAnswer::accept);
  cl_device_id device = add_device({"SPIR-V_1.2"});
  std::vector<Origin> origins;
  for (const std::uint32_t id : {3U, 4U, 3U}) {
    m_cache = std::make_unique<ProgramCache>(settings);
    ASSERT_TRUE(load(request_with_constant(device, id)).has_value());
    origins.push_back(m_report.origin);
  }
  m_cache.reset();
  EXPECT_THAT(origins, ElementsAre(Origin::il, Origin::il, Origin::user_cache));
}

} // namespace
} // namespace clbin::loader
