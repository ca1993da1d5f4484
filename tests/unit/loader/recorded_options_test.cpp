#include "loader/recorded_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::loader {
namespace {

using ::testing::HasSubstr;

TEST(RecordedOptions, LetThroughWhatDecidesAboutTheCode) {
  for (const std::string_view options :
       {"", "-DN=1", "-D N=1 -U N", "-UN", "-cl-std=CL1.2 -cl-fast-relaxed-math",
        "-cl-nv-maxrregcount=32 -cl-nv-verbose", "-cl-ext=+cl_khr_fp16,+cl_khr_subgroups",
        "-w -Werror -Wno-unused", "-O3 -g", "-x spir -spir-std=1.2", "-DT=\"a b\" -DV=2", "-DP=a/b",
        "-D P=a/b", "-D INCLUDE_PATH=/usr/share/x -w", "-D F(a)=a/2", "-D T=\"/a b\"",
        "-DQ='x y z' -w", " \t-DN=1 "}) {
    const auto checked = check_recorded_options(options);
    EXPECT_TRUE(checked.has_value()) << options << ": " << checked.error().message;
  }
}

TEST(RecordedOptions, HoldBackWhatReadsOrWritesFiles) {
  for (const std::string_view options : {"-I/etc",
                                         "-I .",
                                         "-include x.h",
                                         "-imacros x",
                                         "@file",
                                         "/etc/passwd",
                                         "x.cl",
                                         "-o out",
                                         "-save-temps",
                                         "-save-temps=/tmp/x",
                                         "-Wp,-MD,/tmp/x",
                                         "-Wf,--x",
                                         "-Wl,-o,x",
                                         "-fplugin=/tmp/x.so",
                                         "-Xclang -load",
                                         "-x c",
                                         "-x",
                                         "-isystem/x",
                                         "--help",
                                         "-DN=1 -I.",
                                         "-cl-std=CL1.2 -include/etc/passwd",
                                         "-DX=\"a -I/etc\"",
                                         "-DX=\"a @file\"",
                                         "-DX=\"a /etc/x\"",
                                         "-D -I/etc",
                                         "-D @x",
                                         "-D /etc/x=1",
                                         "-D a/b",
                                         "-D =/etc/x",
                                         "-D T=\"a /etc/x\"",
                                         "-U N=/etc/x",
                                         "-DN=1\n-I/etc",
                                         "-DN=1\v-I/etc",
                                         "-cl-x=/etc/passwd",
                                         "-cl-x=1,-I",
                                         "-cl-ext=+a,/etc/passwd",
                                         "-working-directory=/",
                                         "-B/tmp"}) {
    const auto checked = check_recorded_options(options);
    ASSERT_FALSE(checked.has_value()) << options;
    EXPECT_EQ(checked.error().code, base::ErrorCode::unsafe_options);
  }
}

TEST(RecordedOptions, NameTheWordThatIsHeldBack) {
  EXPECT_THAT(check_recorded_options("-DN=1 -include /etc/passwd -w").error().message,
              HasSubstr("contain '-include', which libclbin does not pass to a compiler"));
}

TEST(RecordedOptions, HoldBackWhatWouldSwallowTheCallersOptions) {
  for (const std::string_view options : {"-DX=1 -x", "-D", "-DX=\"a", "-DX='a b"}) {
    const auto checked = check_recorded_options(options);
    ASSERT_FALSE(checked.has_value()) << options;
    EXPECT_THAT(checked.error().message, HasSubstr("end with an incomplete option"));
  }
}

TEST(RecordedOptions, HoldBackATextThatEndsEarly) {
  EXPECT_FALSE(check_recorded_options(std::string_view("-DN=1\0-I/etc", 12)).has_value());
}

} // namespace
} // namespace clbin::loader
