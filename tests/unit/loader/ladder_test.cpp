#include "loader/ladder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::loader {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

LoadRequest request_for(std::size_t devices, FallbackPolicy fallback) {
  LoadRequest request;
  request.devices.resize(devices);
  request.fallback = fallback;
  return request;
}

TEST(Steps, LeadFromTheDevicesOwnEntriesToSource) {
  EXPECT_THAT(steps_of(request_for(1, FallbackPolicy::if_needed)),
              ElementsAre(Step::own_entries, Step::user_cache, Step::compatible_entries,
                          Step::build_of_others, Step::recompiled_entry, Step::il, Step::source));
}

TEST(Steps, OfSeveralDevicesDoNotIncludeIl) {
  EXPECT_THAT(steps_of(request_for(2, FallbackPolicy::if_needed)),
              ElementsAre(Step::own_entries, Step::user_cache, Step::compatible_entries,
                          Step::recompiled_entry, Step::build_of_others, Step::source));
}

TEST(Steps, FollowThePolicy) {
  EXPECT_THAT(steps_of(request_for(1, FallbackPolicy::never)),
              ElementsAre(Step::own_entries, Step::compatible_entries, Step::recompiled_entry));
  EXPECT_THAT(steps_of(request_for(1, FallbackPolicy::always)), ElementsAre(Step::source));
}

TEST(Steps, OfRunTimeOptionsAreTheUserCacheAndSource) {
  LoadRequest request = request_for(1, FallbackPolicy::if_needed);
  request.extra_options = "-DN=1";
  EXPECT_THAT(steps_of(request),
              ElementsAre(Step::user_cache, Step::build_of_others, Step::source));
  request.fallback = FallbackPolicy::always;
  EXPECT_THAT(steps_of(request), ElementsAre(Step::source));
  request.fallback = FallbackPolicy::never;
  EXPECT_THAT(steps_of(request), IsEmpty());
}

TEST(Steps, OfConstantsAreTheUserCacheAndIl) {
  LoadRequest request = request_for(1, FallbackPolicy::if_needed);
  request.constants = {{0, {std::byte{1}}}};
  EXPECT_THAT(steps_of(request), ElementsAre(Step::user_cache, Step::build_of_others, Step::il));
  request.extra_options = "-DN=1";
  EXPECT_THAT(steps_of(request), ElementsAre(Step::user_cache, Step::build_of_others, Step::il));
  request.fallback = FallbackPolicy::always;
  EXPECT_THAT(steps_of(request), ElementsAre(Step::il));
}

TEST(Steps, HaveTheOriginThatReportsState) {
  EXPECT_EQ(origin_of(Step::own_entries), Origin::entry);
  EXPECT_EQ(origin_of(Step::compatible_entries), Origin::entry);
  EXPECT_EQ(origin_of(Step::user_cache), Origin::user_cache);
  EXPECT_EQ(origin_of(Step::build_of_others), Origin::user_cache);
  EXPECT_EQ(origin_of(Step::recompiled_entry), Origin::il);
  EXPECT_EQ(origin_of(Step::il), Origin::il);
  EXPECT_EQ(origin_of(Step::source), Origin::source);
}

} // namespace
} // namespace clbin::loader
