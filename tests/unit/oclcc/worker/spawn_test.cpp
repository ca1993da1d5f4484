#include "worker/spawn.hpp"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc::worker {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Spawn, PointsToEachTextAndEndsWithANullPointer) {
  std::vector<std::string> texts{"sh", ""};
  const std::vector<char*> pointers = pointers_to(texts);
  ASSERT_EQ(pointers.size(), 3U);
  EXPECT_EQ(pointers[0], texts[0].data());
  EXPECT_EQ(pointers[1], texts[1].data());
  EXPECT_EQ(pointers[2], nullptr);
  std::vector<std::string> none;
  EXPECT_THAT(pointers_to(none), ElementsAre(nullptr));
}

TEST(Spawn, SetsAVariableInPlaceOfEveryOneOfItsName) {
  std::vector<std::string> variables{"HOME=/a", "HOMES=/b", "HOME=/c", "X=HOME=/d"};
  set_variable(variables, "HOME", "/e");
  EXPECT_THAT(variables, ElementsAre("HOMES=/b", "X=HOME=/d", "HOME=/e"));
}

TEST(Spawn, CopiesTheEnvironmentOfThisProcess) {
  ASSERT_EQ(::setenv("OCLCC_SPAWN_TEST", "a=b", 1), 0);
  EXPECT_THAT(own_environment(), Contains("OCLCC_SPAWN_TEST=a=b"));
  ASSERT_EQ(::unsetenv("OCLCC_SPAWN_TEST"), 0);
}

TEST(Spawn, KeepsTheTokenOfTheRemoteCacheFromOtherPrograms) {
  ASSERT_EQ(::setenv("CLBIN_REMOTE_TOKEN", "sesame", 1), 0);
  ASSERT_EQ(::setenv("CLBIN_REMOTE", "0", 1), 0);
  EXPECT_THAT(own_environment(),
              AllOf(Contains("CLBIN_REMOTE=0"), Not(Contains(HasSubstr("sesame")))));
  ASSERT_EQ(::unsetenv("CLBIN_REMOTE"), 0);
  ASSERT_EQ(::unsetenv("CLBIN_REMOTE_TOKEN"), 0);
}

} // namespace
} // namespace oclcc::worker
