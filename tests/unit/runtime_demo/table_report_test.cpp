#include "reports.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace runtime_demo {
namespace {

using ::testing::HasSubstr;

Measurement passed(const std::string& kernel, const std::string& device = "0:0") {
  Measurement measurement;
  measurement.kernel = find_kernels(kernel).front();
  measurement.device_index = device;
  measurement.platform = "Portable Computing Language";
  measurement.device_name = "EPYC";
  measurement.size = {100, 100, 100};
  measurement.outcome = Outcome::passed;
  measurement.first = {"entry", 1.5, 0.5};
  measurement.serial.seconds = 0.02;
  measurement.launches_ms = {2};
  return measurement;
}

TEST(ReadableNumber, KeepsAboutThreeDigits) {
  EXPECT_EQ(readable_number(45'698.7), "45699");
  EXPECT_EQ(readable_number(53.17), "53.2");
  EXPECT_EQ(readable_number(4.25), "4.25");
  EXPECT_EQ(readable_number(0.0096), "0.0096");
  EXPECT_EQ(readable_number(0.000031), "3.1e-05");
  EXPECT_EQ(readable_number(0), "-");
}

TEST(TableReport, PutsAMeasurementOnALine) {
  EXPECT_EQ(table_row(passed("mat_mul")),
            "mat_mul                        0:0 Portable Computi 100x100x100     entry           "
            "1.50      0.50        2.00   1        1000       -       10.0  PASSED\n");
}

TEST(TableReport, MarksTimesOfTheHostsClock) {
  Measurement measurement = passed("mat_mul");
  measurement.timed_by_host = true;
  EXPECT_THAT(table_row(measurement), HasSubstr(" 2.00h "));
}

TEST(TableReport, SaysWhyARowDidNotPass) {
  Measurement measurement = passed("mat_mul");
  measurement.reason = "no fp64";
  measurement.outcome = Outcome::skipped;
  EXPECT_THAT(table_row(measurement), HasSubstr("  skipped: no fp64\n"));
  measurement.outcome = Outcome::failed;
  EXPECT_THAT(table_row(measurement), HasSubstr("  FAILED: no fp64\n"));
  measurement.outcome = Outcome::expected_failure;
  EXPECT_THAT(table_row(measurement), HasSubstr("  expected failure: no fp64\n"));
}

TEST(TableReport, CountsOutcomes) {
  std::vector<Measurement> measurements{passed("mat_mul"), passed("sgemm"), passed("matMul")};
  measurements[2].outcome = Outcome::skipped;
  EXPECT_EQ(summary(measurements),
            "2 passed, 0 failed, 0 expected to fail (a driver's own bug), 1 skipped\n");
}

TEST(TableReport, NamesTheFastestVariantOfEachDevice) {
  std::vector<Measurement> measurements{passed("sgemm/tile64x64x16_item4x4"),
                                        passed("sgemm/tile64x64x16_item8x8"),
                                        passed("sgemm/tile64x64x16_item8x8", "1:0")};
  measurements[0].launches_ms = {1};
  EXPECT_EQ(best_variants(measurements),
            "best of 2 register-blocked variants on 0:0 EPYC: sgemm/tile64x64x16_item4x4, 2.00 "
            "GFLOPS\n"
            "best of 1 register-blocked variants on 1:0 EPYC: sgemm/tile64x64x16_item8x8, 1.00 "
            "GFLOPS\n");
  EXPECT_EQ(best_variants(std::vector<Measurement>{passed("mat_mul")}), "");
}

TEST(TableReport, PutsTheLecturesFiguresBesideOurs) {
  const std::string table = lecture_table(std::vector<Measurement>{passed("mmul_block")});
  EXPECT_THAT(table,
              HasSubstr("sequential, one thread                        887.2          -      "
                        "    100\n"));
  EXPECT_THAT(table,
              HasSubstr("block-oriented using local                   1534.0   230416.7      "
                        "   1000\n"));
  EXPECT_EQ(lecture_table(std::vector<Measurement>{passed("sgemm")}), "");
}

TEST(TableReport, ComparesFirstResultsWithTheBlogs) {
  std::vector<Measurement> measurements{passed("matrixMul_tiled")};
  measurements[0].from_source = FirstResult{"source", 4, 1};
  EXPECT_THAT(blog_table(measurements),
              HasSubstr("matrixMul_tiled        0:0 Portable Computi 100x100x100               61  "
                        "       4.00            -         10.0\n"));
}

} // namespace
} // namespace runtime_demo
