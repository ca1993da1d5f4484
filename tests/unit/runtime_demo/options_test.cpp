#include "options.hpp"

#include <gtest/gtest.h>

namespace runtime_demo {
namespace {

std::string refusal(const std::vector<std::string>& words) {
  const Result<Options> options = parse_options(words);
  EXPECT_FALSE(options.has_value());
  if (options) {
    return {};
  }
  EXPECT_EQ(options.error().code, ExitCode::command_line);
  return options.error().message;
}

TEST(Options, RunsEverythingByDefault) {
  const Result<Options> options = parse_options({});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->mode, Mode::run);
  EXPECT_TRUE(options->bundles.empty() && options->kernels.empty() && options->devices.empty());
  EXPECT_FALSE(options->size || options->repeat || options->seed || options->plot);
  EXPECT_EQ(options->format, OutputFormat::table);
  EXPECT_EQ(options->load_from, LoadFrom::bundle);
  EXPECT_EQ(options->limits, RunLimits());
}

TEST(Options, TakesEveryOption) {
  const Result<Options> options =
      parse_options({"a.clbin", "--kernel", "x", "--kernel", "y", "--size", "2x3x4", "--repeat",
                     "7", "--device", "0:1", "--json", "--quick", "--from-source", "--plot",
                     "p.svg", "--seed", "18446744073709551615", "b.clbin"});
  ASSERT_TRUE(options.has_value()) << options.error().message;
  EXPECT_EQ(options->bundles, (std::vector<std::filesystem::path>{"a.clbin", "b.clbin"}));
  EXPECT_EQ(options->kernels, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(options->devices, (std::vector<std::string>{"0:1"}));
  EXPECT_EQ(options->size, (Size{2, 3, 4}));
  EXPECT_EQ(options->repeat, 7U);
  EXPECT_EQ(options->seed, ~std::uint64_t{0});
  EXPECT_EQ(options->plot, "p.svg");
  EXPECT_EQ(options->format, OutputFormat::json);
  EXPECT_EQ(options->load_from, LoadFrom::source);
  EXPECT_EQ(options->limits, k_quick_limits);
}

TEST(Options, ReadsOneSizeAsThree) {
  EXPECT_EQ(parse_size("17").value(), (Size{17, 17, 17}));
}

TEST(Options, RefusesWhatIsNoSize) {
  EXPECT_EQ(refusal({"--size", "2x3"}), "size '2x3' is neither MxNxL nor N");
  EXPECT_EQ(refusal({"--size", "2x3x4x5"}), "size '2x3x4x5' is neither MxNxL nor N");
  EXPECT_EQ(refusal({"--size", "2xx4"}), "size '2xx4' is neither MxNxL nor N");
  EXPECT_EQ(refusal({"--size", ""}), "size '' is neither MxNxL nor N");
  EXPECT_EQ(refusal({"--size", "1.5"}), "size '1.5' is neither MxNxL nor N");
  EXPECT_EQ(refusal({"--size", "2x0x4"}), "size '2x0x4': every size has to be at least 1");
  EXPECT_EQ(refusal({"--size", "-2x3x4"}), "size '-2x3x4': every size has to be at least 1");
  EXPECT_EQ(refusal({"--size", "99999999999999999999"}),
            "size '99999999999999999999' does not fit a number");
}

TEST(Options, RefusesBadNumbersUnknownOptionsAndMissingValues) {
  EXPECT_EQ(refusal({"--repeat", "0"}), "--repeat '0' is not a number from 1 to 100000");
  EXPECT_EQ(refusal({"--repeat", "many"}), "--repeat 'many' is not a number from 1 to 100000");
  EXPECT_EQ(refusal({"--seed", "-1"}),
            "--seed '-1' is not a number from 0 to 18446744073709551615");
  EXPECT_EQ(refusal({"--bogus"}), "option 'bogus' does not exist");
  EXPECT_EQ(refusal({"--size"}), "option 'size' is missing an argument");
}

TEST(Options, KnowsTheModesThatRunNothing) {
  EXPECT_EQ(parse_options({"--list"}).value().mode, Mode::list);
  EXPECT_EQ(parse_options({"--help"}).value().mode, Mode::help);
  EXPECT_EQ(parse_options({"--version"}).value().mode, Mode::version);
  for (const char* const option :
       {"--list", "--kernel NAME", "--size MxNxL", "--repeat N", "--device PATTERN", "--json",
        "--from-source", "--plot FILE.svg", "--seed N"}) {
    EXPECT_NE(help_text().find(option), std::string::npos) << option;
  }
}

} // namespace
} // namespace runtime_demo
