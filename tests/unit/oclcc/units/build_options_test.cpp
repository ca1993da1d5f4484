#include "units/unit.hpp"

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
}

TEST(BuildOptions, KeepARecordedTextAsItIs) {
  const BuildOptions options = BuildOptions::recorded(" -DX='a b'  -w\t-cl-mad-enable ");
  EXPECT_EQ(options.text(), " -DX='a b'  -w\t-cl-mad-enable ");
  EXPECT_THAT(options.words(), ElementsAre("-DX=a b", "-w", "-cl-mad-enable"));
}

// As OpenCV, Halide and gputools write.
TEST(BuildOptions, JoinAMacroAndItsOptionOfARecordedText) {
  const BuildOptions options =
      BuildOptions::recorded("-D T=int4 -D -DX='a b' -U  W -D\t'Y=c \\d' -D \"Z=1\" -w -D -U V");
  EXPECT_EQ(options.text(), "-D T=int4 -D -DX='a b' -U  W -D\t'Y=c \\d' -D \"Z=1\" -w -D -U V");
  EXPECT_THAT(options.words(),
              ElementsAre("-DT=int4", "-D-DX=a b", "-UW", "-DY=c \\d", "-DZ=1", "-w", "-D-U", "V"));
  EXPECT_THAT(BuildOptions::recorded("-w -D").words(), ElementsAre("-w", "-D"));
  EXPECT_THAT(BuildOptions::recorded("-D -w -x spir").words(), ElementsAre("-D-w", "-x", "spir"));
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
