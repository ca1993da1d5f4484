#include "faults/fault_scenario.hpp"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::faults {
namespace {

std::string message_of(std::string_view scenario) {
  const auto rules = parse_scenario(scenario);
  EXPECT_FALSE(rules.has_value()) << scenario;
  if (rules.has_value()) {
    return "no error";
  }
  EXPECT_EQ(rules.error().code, base::ErrorCode::invalid_argument);
  return rules.error().message;
}

Rule only_rule(std::string_view scenario) {
  const auto rules = parse_scenario(scenario);
  EXPECT_TRUE(rules.has_value()) << rules.error().message;
  EXPECT_EQ(rules.has_value() ? rules->size() : 0U, 1U);
  return rules.has_value() && rules->size() == 1 ? rules->front() : Rule();
}

TEST(FaultScenario, SkipsEmptyLinesAndComments) {
  const auto rules = parse_scenario("# all is well\n\n   \t\n  # still\n");
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  EXPECT_TRUE(rules->empty());
}

TEST(FaultScenario, ReadsAnAnswerWithQuotes) {
  const Rule rule = only_rule("\nanswer at=clGetDeviceInfo name=CL_DRIVER_VERSION "
                              "value=\"9.9 \\\"new\\\"\\nline\" platform=\"Portable Comp\"  # why");
  EXPECT_EQ(rule.line, 2U);
  EXPECT_EQ(rule.fault, Fault::answer);
  EXPECT_EQ(rule.call, Call::get_device_info);
  EXPECT_EQ(rule.info_name, static_cast<cl_uint>(CL_DRIVER_VERSION));
  EXPECT_EQ(rule.text, "9.9 \"new\"\nline");
  EXPECT_EQ(rule.platform, "Portable Comp");
}

TEST(FaultScenario, ReadsAPartOfTheSource) {
  const Rule rule = only_rule("crash at=clCreateProgramWithSource source=\"void second(\"");
  EXPECT_EQ(rule.call, Call::create_program_with_source);
  EXPECT_EQ(rule.source, "void second(");
}

TEST(FaultScenario, ReadsCodesByNameAndByNumber) {
  EXPECT_EQ(only_rule("fail at=clBuildProgram code=CL_OUT_OF_HOST_MEMORY log=bad").code, -6);
  EXPECT_EQ(only_rule("fail at=clBuildProgram code=-9999").code, -9999);
}

TEST(FaultScenario, RefusesAtCreateWithInvalidBinaryUnlessToldOtherwise) {
  const Rule rule = only_rule("refuse style=last-status");
  EXPECT_EQ(rule.call, Call::create_program_with_binary);
  EXPECT_EQ(rule.style, RefusalStyle::last_status);
  EXPECT_EQ(rule.code, CL_INVALID_BINARY);
  EXPECT_EQ(only_rule("refuse style=honest code=CL_OUT_OF_RESOURCES").code, CL_OUT_OF_RESOURCES);
}

TEST(FaultScenario, CrashesWithASegmentationFaultUnlessToldOtherwise) {
  EXPECT_EQ(only_rule("crash at=clBuildProgram").signal_number, SIGSEGV);
  EXPECT_EQ(only_rule("crash at=clBuildProgram signal=SIGABRT").signal_number, SIGABRT);
}

TEST(FaultScenario, ReadsRangesOfCalls) {
  const Rule second = only_rule("hang at=clBuildProgram call=2");
  EXPECT_EQ(second.first_call, 2U);
  EXPECT_EQ(second.last_call, 2U);
  const Rule later = only_rule("hang at=clBuildProgram call=3-");
  EXPECT_EQ(later.first_call, 3U);
  EXPECT_EQ(later.last_call, std::numeric_limits<std::uint64_t>::max());
  const Rule range = only_rule("hang at=clBuildProgram call=3-5 origin=binary");
  EXPECT_EQ(range.last_call, 5U);
  EXPECT_EQ(range.origin, ProgramOrigin::binary);
}

TEST(FaultScenario, NamesTheLineOfAMistake) {
  EXPECT_EQ(message_of("hang at=clBuildProgram\nexplode"), "line 2: unknown fault 'explode'");
  EXPECT_EQ(message_of("hang"), "line 1: 'hang' needs at=FUNCTION");
  EXPECT_EQ(message_of("allocate at=clBuildProgram"), "line 1: 'allocate' needs bytes=N");
  EXPECT_EQ(message_of("scribble at=clBuildProgram file=3"),
            "line 1: 'scribble' needs file=N and hex=BYTES");
  EXPECT_EQ(message_of("scribble at=clBuildProgram file=3 hex=0g"),
            "line 1: hex= needs pairs of hexadecimal digits, not '0g'");
  EXPECT_EQ(message_of("crash at=clFoo"), "line 1: unknown function 'clFoo'");
  EXPECT_EQ(message_of("crash at=clBuildProgram signal=SIGHUP"), "line 1: unknown signal 'SIGHUP'");
  EXPECT_EQ(message_of("fail at=clBuildProgram"), "line 1: 'fail' needs code=CODE, not success");
  EXPECT_EQ(message_of("fail at=clBuildProgram code=0"),
            "line 1: 'fail' needs code=CODE, not success");
  EXPECT_EQ(message_of("fail at=clReleaseProgram code=-1"), "line 1: 'fail' needs at=FUNCTION");
  EXPECT_EQ(message_of("fail at=clBuildProgram code=bad"),
            "line 1: code= needs a number, not 'bad'");
  EXPECT_EQ(message_of("answer at=clBuildProgram name=CL_DEVICE_NAME value=x"),
            "line 1: 'answer' needs at=clGetDeviceInfo or at=clGetPlatformInfo");
  EXPECT_EQ(message_of("answer at=clGetDeviceInfo value=x"), "line 1: 'answer' needs name=CL_…");
  EXPECT_EQ(message_of("answer at=clGetDeviceInfo name=CL_DEVICE_NAME"),
            "line 1: 'answer' needs value=TEXT");
  EXPECT_EQ(
      message_of("reverse at=clBuildProgram"),
      "line 1: 'reverse' needs at= one of clGetDeviceIDs, clGetPlatformIDs, clGetContextInfo and "
      "clGetProgramInfo");
  EXPECT_EQ(message_of("refuse"), "line 1: 'refuse' needs style=STYLE");
  EXPECT_EQ(message_of("refuse style=rude"), "line 1: unknown style 'rude'");
  EXPECT_EQ(message_of("lose-kernel"), "line 1: 'lose-kernel' needs kernel=NAME");
  EXPECT_EQ(message_of("cut-binary"), "line 1: 'cut-binary' needs bytes=N");
  EXPECT_EQ(message_of("cut-binary bytes=-1"), "line 1: bytes= needs a number, not '-1'");
  EXPECT_EQ(message_of("build-log"), "line 1: 'build-log' needs text=TEXT");
  EXPECT_EQ(message_of("hang at=clBuildProgram call=0"),
            "line 1: call=0 holds no call; they count from 1");
  EXPECT_EQ(message_of("hang at=clBuildProgram call=5-3"),
            "line 1: call=5-3 holds no call; they count from 1");
  EXPECT_EQ(message_of("hang at=clBuildProgram nonsense"), "line 1: 'nonsense' is not KEY=VALUE");
  EXPECT_EQ(message_of("hang at=clBuildProgram when=now"), "line 1: unknown key 'when'");
  EXPECT_EQ(message_of("hang at=\"clBuildProgram"), "line 1: a quote is not closed");
}

} // namespace
} // namespace clbin::faults
