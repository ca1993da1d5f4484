#include "matching/variant_choice.hpp"

#include "support/bundle_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::matching {
namespace {

using format::GroupSize;
using ::testing::ElementsAre;

constexpr GroupSize k_drivers_choice{};

class RecommendedSize : public ::testing::Test {
protected:
  RecommendedSize() {
    program().measurements.clear();
    program().source.reset(); // whose digest measurements would need
  }

  format::ProgramInput& program() { return m_input.programs.front(); }

  format::Measurement& add(const std::string& device, std::uint64_t items, GroupSize local,
                           std::uint64_t time) {
    auto measurement = test::sample_measurement(program().variants.front().name, device, time);
    measurement.kernel = "k";
    measurement.dimensions = 1;
    measurement.global_size = {items, 1, 1};
    measurement.local_size = local;
    return program().measurements.emplace_back(measurement);
  }

  GroupSize recommended(const std::string& device, std::uint64_t items = 1024,
                        const std::string& kernel = "k", std::uint64_t max_work_items = 256) {
    const format::BundleReader bundle = test::must_open(test::must_write(m_input));
    const auto group = bundle.find_group(program().name, program().variants.front().name);
    const auto size =
        recommended_size(bundle, group.value(), test::sample_measurement("", device, 1).device,
                         {kernel, {1, {items, 1, 1}}, max_work_items});
    EXPECT_TRUE(size.has_value()) << size.error().message;
    return size.value_or(k_drivers_choice);
  }

  format::BundleInput m_input = test::sample_input();
};

TEST_F(RecommendedSize, IsTheFastestOnTheDevice) {
  add("here", 1024, {16, 1, 1}, 300);
  add("here", 1024, {64, 1, 1}, 100);
  add("here", 1024, k_drivers_choice, 200);
  add("other", 1024, {16, 1, 1}, 1);
  EXPECT_THAT(recommended("here"), ElementsAre(64, 1, 1));
  EXPECT_THAT(recommended("here", 1024, "another"), ElementsAre(0, 0, 0));
}

TEST_F(RecommendedSize, MayBeTheDriversChoice) {
  add("here", 1024, {16, 1, 1}, 300);
  add("here", 1024, k_drivers_choice, 200);
  EXPECT_EQ(recommended("here"), k_drivers_choice);
}

TEST_F(RecommendedSize, IsThatOfTheNearestLaunchThatItDivides) {
  add("here", 1024, {16, 1, 1}, 100);
  add("here", 1 << 20U, {64, 1, 1}, 100);
  add("here", 1 << 20U, {32, 1, 1}, 200);
  EXPECT_THAT(recommended("here", 2048), ElementsAre(16, 1, 1));
  EXPECT_THAT(recommended("here", 1 << 18U), ElementsAre(64, 1, 1));
  EXPECT_THAT(recommended("here", (1 << 18U) + 32), ElementsAre(32, 1, 1));
  EXPECT_EQ(recommended("here", 7), k_drivers_choice);
}

TEST_F(RecommendedSize, IsWithinTheLimitOfTheDevice) {
  add("other", 1024, {512, 1, 1}, 100);
  add("other", 1024, {128, 1, 1}, 200);
  EXPECT_THAT(recommended("here"), ElementsAre(128, 1, 1));
}

TEST_F(RecommendedSize, IsThatOfAllOtherDevicesInRelationToTheirBest) {
  for (const auto& [device, times] : {std::pair("a", std::array<std::uint64_t, 2>{100, 110}),
                                      std::pair("b", std::array<std::uint64_t, 2>{9000, 3000})}) {
    add(device, 1024, {16, 1, 1}, times[0]);
    add(device, 1024, {64, 1, 1}, times[1]);
  }
  add("a", 1024, {8, 1, 1}, 1); // not measured on b
  EXPECT_THAT(recommended("here"), ElementsAre(64, 1, 1));
}

TEST_F(RecommendedSize, IgnoresWhatWasRefused) {
  auto& refused = add("here", 1024, {16, 1, 1}, 0);
  refused.outcome = format::MeasurementOutcome::crashed;
  refused.reason = "signal 11";
  refused.rounds = 0;
  add("here", 1024, {64, 1, 1}, 100);
  EXPECT_THAT(recommended("here"), ElementsAre(64, 1, 1));
}

} // namespace
} // namespace clbin::matching
