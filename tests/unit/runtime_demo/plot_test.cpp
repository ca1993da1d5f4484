#include "reports.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace runtime_demo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Measurement passed_run(const std::string& kernel) {
  Measurement measurement;
  measurement.kernel = find_kernels(kernel).front();
  measurement.device_index = "0:0";
  measurement.device_name = "A & B <fast>";
  measurement.size = {100, 100, 100};
  measurement.outcome = Outcome::passed;
  measurement.first = {"entry", 1, 2};
  measurement.from_source = FirstResult{"source", 30, 10};
  measurement.launches_ms = {2};
  return measurement;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Plot, LabelsEveryBarWithNameAndValue) {
  const std::vector<Measurement> measurements{passed_run("mat_mul")};
  const std::string svg = svg_plot(measurements);
  EXPECT_THAT(svg, HasSubstr(">mat_mul 100x100x100</text>"));
  EXPECT_THAT(svg, HasSubstr(">1.00 GFLOPS</text>"));
  EXPECT_THAT(svg, HasSubstr(">mat_mul, source</text>"));
  EXPECT_THAT(svg, HasSubstr(">40.0 ms</text>"));
  EXPECT_THAT(svg, HasSubstr(">mat_mul, bundle</text>"));
  EXPECT_THAT(svg, HasSubstr(">3.00 ms</text>"));
}

TEST(Plot, TellsSourceFromBundleWithoutColour) {
  const std::vector<Measurement> measurements{passed_run("mat_mul")};
  EXPECT_EQ(count_of(svg_plot(measurements), "fill=\"url(#hatch)\""), 1U);
}

TEST(Plot, DrawsBarsInProportion) {
  std::vector<Measurement> measurements{passed_run("mat_mul"), passed_run("sgemm")};
  measurements[1].launches_ms = {4};
  const std::string svg = svg_plot(measurements);
  EXPECT_THAT(svg, HasSubstr("width=\"570.0\"")); // the widest
  EXPECT_THAT(svg, HasSubstr("width=\"285.0\"")); // half as fast
}

TEST(Plot, DrawsAnAxisFromZeroWithRoundNumbers) {
  const std::string svg = svg_plot(std::vector<Measurement>{passed_run("mat_mul")});
  // Times: 40 ms from source, 3 ms from the bundle.
  EXPECT_THAT(svg, HasSubstr("<text x=\"330.0\" y=\"172.0\" text-anchor=\"middle\">0 ms</text>"));
  EXPECT_THAT(svg, HasSubstr("<text x=\"615.0\" y=\"172.0\" text-anchor=\"middle\">20</text>"));
  EXPECT_THAT(svg, HasSubstr("<text x=\"900.0\" y=\"172.0\" text-anchor=\"middle\">40</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">50</text>")));
}

TEST(Plot, EscapesWhatDevicesCallThemselves) {
  const std::string svg = svg_plot(std::vector<Measurement>{passed_run("mat_mul")});
  EXPECT_THAT(svg, HasSubstr("A &amp; B &lt;fast&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<fast>")));
  EXPECT_EQ(count_of(svg, "<text"), count_of(svg, "</text>"));
}

TEST(Plot, LeavesOutWhatDidNotPassAndWhatHasNoFlops) {
  std::vector<Measurement> measurements{passed_run("mat_mul"), passed_run("transpose")};
  measurements[0].outcome = Outcome::failed;
  const std::string svg = svg_plot(measurements);
  EXPECT_THAT(svg, Not(HasSubstr("mat_mul")));
  EXPECT_THAT(svg, Not(HasSubstr("GFLOPS")));
  EXPECT_THAT(svg, HasSubstr(">transpose, bundle</text>"));
}

} // namespace
} // namespace runtime_demo
