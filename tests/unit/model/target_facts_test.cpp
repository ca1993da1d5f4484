#include "model/device.hpp"

#include "support/bundle_samples.hpp"

#include <gtest/gtest.h>

namespace clbin::format {
namespace {

TargetFacts facts_of(std::string_view spec, std::string_view architecture) {
  return target_facts(test::sample_offline_target(spec, architecture));
}

TEST(TargetFacts, ReadsNvidiaArchitectures) {
  EXPECT_EQ(facts_of("nvptx:sm_70", "sm_70").family, DeviceFamily::nvidia);
  EXPECT_EQ(facts_of("nvptx:sm_70", "sm_70").architecture, 70U);
  EXPECT_EQ(facts_of("nvptx:sm_70", "sm_70").features, 0U);
  EXPECT_EQ(facts_of("cubin:sm_90a", "sm_90a").architecture, 90U);
  EXPECT_EQ(facts_of("cubin:sm_90a", "sm_90a").features, static_cast<std::uint32_t>('a'));
}

TEST(TargetFacts, ReadsAmdArchitectures) {
  const TargetFacts facts = facts_of("amdgcn:gfx90a", "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(facts.family, DeviceFamily::amd);
  EXPECT_EQ(facts.architecture, 0x90aU);
  EXPECT_EQ(facts.features, 3U | (2U << 2U));
  EXPECT_EQ(facts_of("amdgcn:gfx1030", "gfx1030").features, 0U);
  EXPECT_EQ(facts_of("amdgcn:gfx906", "gfx906:xnack+").features, 3U << 2U);
}

TEST(TargetFacts, GivesZeroForWhatDoesNotParse) {
  EXPECT_EQ(target_facts(test::sample_device("cpu")).architecture, 0U);
  EXPECT_EQ(facts_of("x", "sm_").architecture, 0U);
  EXPECT_EQ(facts_of("x", "sm_99999999999").architecture, 0U);
  EXPECT_EQ(facts_of("x", "gfx").architecture, 0U);
  EXPECT_EQ(facts_of("x", "").architecture, 0U);
  EXPECT_EQ(facts_of("x", "12.0").architecture, 0U);
  EXPECT_EQ(facts_of("x", "53").architecture, 53U);
}

} // namespace
} // namespace clbin::format
