#include "loader/rungs.hpp"

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

TEST(Rungs, LeadFromTheDevicesOwnEntriesToSource) {
  EXPECT_THAT(rungs_of(request_for(1, FallbackPolicy::if_needed)),
              ElementsAre(Rung::own_entries, Rung::user_cache, Rung::compatible_entries,
                          Rung::build_of_others, Rung::recompiled_entry, Rung::il, Rung::source));
}

TEST(Rungs, OfSeveralDevicesDoNotIncludeIl) {
  EXPECT_THAT(rungs_of(request_for(2, FallbackPolicy::if_needed)),
              ElementsAre(Rung::own_entries, Rung::user_cache, Rung::compatible_entries,
                          Rung::recompiled_entry, Rung::build_of_others, Rung::source));
}

TEST(Rungs, FollowThePolicy) {
  EXPECT_THAT(rungs_of(request_for(1, FallbackPolicy::never)),
              ElementsAre(Rung::own_entries, Rung::compatible_entries, Rung::recompiled_entry));
  EXPECT_THAT(rungs_of(request_for(1, FallbackPolicy::always)), ElementsAre(Rung::source));
}

TEST(Rungs, OfRunTimeOptionsAreTheUserCacheAndSource) {
  LoadRequest request = request_for(1, FallbackPolicy::if_needed);
  request.extra_options = "-DN=1";
  EXPECT_THAT(rungs_of(request),
              ElementsAre(Rung::user_cache, Rung::build_of_others, Rung::source));
  request.fallback = FallbackPolicy::always;
  EXPECT_THAT(rungs_of(request), ElementsAre(Rung::source));
  request.fallback = FallbackPolicy::never;
  EXPECT_THAT(rungs_of(request), IsEmpty());
}

TEST(Rungs, OfConstantsAreTheUserCacheAndIl) {
  LoadRequest request = request_for(1, FallbackPolicy::if_needed);
  request.constants = {{0, {std::byte{1}}}};
  EXPECT_THAT(rungs_of(request), ElementsAre(Rung::user_cache, Rung::build_of_others, Rung::il));
  request.extra_options = "-DN=1";
  EXPECT_THAT(rungs_of(request), ElementsAre(Rung::user_cache, Rung::build_of_others, Rung::il));
  request.fallback = FallbackPolicy::always;
  EXPECT_THAT(rungs_of(request), ElementsAre(Rung::il));
}

TEST(Rungs, HaveTheOriginThatReportsState) {
  EXPECT_EQ(origin_of(Rung::own_entries), Origin::entry);
  EXPECT_EQ(origin_of(Rung::compatible_entries), Origin::entry);
  EXPECT_EQ(origin_of(Rung::user_cache), Origin::user_cache);
  EXPECT_EQ(origin_of(Rung::build_of_others), Origin::user_cache);
  EXPECT_EQ(origin_of(Rung::recompiled_entry), Origin::il);
  EXPECT_EQ(origin_of(Rung::il), Origin::il);
  EXPECT_EQ(origin_of(Rung::source), Origin::source);
}

} // namespace
} // namespace clbin::loader
