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

TEST(Spawn, FindsAProgramInPathAndPassesItEveryWord) {
  Spawn spawn(DefaultSignals::ignored_by_main);
  const auto process =
      spawn.start("sh", {"sh", "-c", "test \"$#-$1-$2\" = 2--b", "sh", "", "b"}, own_environment());
  ASSERT_TRUE(process);
  EXPECT_EQ(wait_for(*process), 0);
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
