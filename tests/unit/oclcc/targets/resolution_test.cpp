#include "targets/clang_front_end.hpp"

#include <gtest/gtest.h>

namespace oclcc::offline {
namespace {

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

} // namespace
} // namespace oclcc::offline
