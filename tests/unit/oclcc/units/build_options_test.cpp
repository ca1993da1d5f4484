#include "units/build_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BuildOptions, JoinWordsForADriver) {
  const BuildOptions options({"-DX=a b", "-w", "", "-DY=\"c\""});
  EXPECT_EQ(options.text(), "-DX=\"a b\" -w \"\" -DY=\"\\\"c\\\"\"");
  EXPECT_THAT(options.words(), ElementsAre("-DX=a b", "-w", "", "-DY=\"c\""));
  EXPECT_EQ(options.recorded_text(), std::nullopt);
}

TEST(BuildOptions, KeepARecordedTextAsItIs) {
  const BuildOptions options = BuildOptions::recorded(" -DX='a b'  -w\t-cl-mad-enable ");
  EXPECT_EQ(options.text(), " -DX='a b'  -w\t-cl-mad-enable ");
  EXPECT_THAT(options.words(), ElementsAre("-DX=a b", "-w", "-cl-mad-enable"));
}

TEST(BuildOptions, OfNothingAreEmpty) {
  EXPECT_EQ(BuildOptions().text(), "");
  EXPECT_THAT(BuildOptions().words(), IsEmpty());
  EXPECT_EQ(BuildOptions::recorded("").text(), "");
  EXPECT_THAT(BuildOptions::recorded("").words(), IsEmpty());
}

TEST(BuildOptions, OfEqualWordsAreEqual) {
  EXPECT_EQ(BuildOptions({"-w"}), BuildOptions({"-w"}));
  EXPECT_NE(BuildOptions({"-w"}), BuildOptions({"-w", "-w"}));
  EXPECT_NE(BuildOptions({"-w"}), BuildOptions::recorded("-w"));
}

} // namespace
} // namespace oclcc
