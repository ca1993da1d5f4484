// Messages and exit statuses of runtime_demo if it cannot run. No driver is needed.
#include "command.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace runtime_demo::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

CommandEnd demo(const std::string& arguments, const std::string& environment = "") {
  return run_command(environment + " " + RUNTIME_DEMO + " " + arguments);
}

// Expects one line on standard error, and nothing else.
void expect_refusal(const CommandEnd& end, int exit_code, const std::string& message) {
  EXPECT_EQ(end.exit_code, exit_code);
  EXPECT_EQ(end.output, "");
  EXPECT_EQ(end.errors, "runtime_demo: error: " + message + "\n");
}

TEST(RuntimeDemoCommand, ListsAKernelALineItsNameFirst) {
  const CommandEnd end = demo("--list");
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(end.output, StartsWith("matrixMul_local_ids "));
  EXPECT_THAT(end.output, HasSubstr("\nsgemm/tile64x64x16_item4x4 "));
}

TEST(RuntimeDemoCommand, RefusesSizesBelowOne) {
  expect_refusal(demo("--size 0x4x4"), 2, "size '0x4x4': every size has to be at least 1");
  expect_refusal(demo("--size 4x-4x4"), 2, "size '4x-4x4': every size has to be at least 1");
  expect_refusal(demo("--size -1"), 2, "size '-1': every size has to be at least 1");
}

TEST(RuntimeDemoCommand, RefusesAnUnknownOption) {
  expect_refusal(demo("--no-such"), 2, "option 'no-such' does not exist");
}

TEST(RuntimeDemoCommand, RefusesABundleThatIsNotThere) {
  const CommandEnd end = demo("/no/such.clbin");
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.output, "");
  EXPECT_THAT(end.errors, HasSubstr("/no/such.clbin"));
}

TEST(RuntimeDemoCommand, RefusesAFileThatIsNoBundle) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "text.clbin";
  std::ofstream(file) << "this is no bundle, although it is long enough to hold the prefix of one";
  const CommandEnd end = demo(file.string());
  EXPECT_EQ(end.exit_code, 4);
  EXPECT_EQ(end.output, "");
  EXPECT_THAT(end.errors, HasSubstr("text.clbin"));
}

} // namespace
} // namespace runtime_demo::test
