// Checks that bundles with valid digests, but tables made to exhaust memory, are rejected.
#include "support/amplifying_bundles.hpp"

#include "format/bundle/bundle_reader.hpp"
#include "model/device.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string_view>

namespace clbin::format {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;
using testing::AnyOf;
using testing::HasSubstr;

BundleReader opened(std::string_view name) {
  const auto kinds = test::amplifying_kinds();
  const auto kind =
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.name == name; });
  if (kind == kinds.end()) {
    throw std::invalid_argument("no such kind");
  }
  auto reader = BundleReader::open(base::owning_source(kind->make(1), std::string(name)),
                                   ReadLimits(), TrailingBytes::refuse);
  if (!reader) {
    throw std::runtime_error(reader.error().message);
  }
  return std::move(*reader);
}

template <typename T>
Error error_of(const Result<T>& result) {
  return result ? Error{ErrorCode::internal, "no error"} : result.error();
}

Error exact_look_up(std::string_view name) {
  const BundleReader reader = opened(name);
  const auto group = reader.find_group("p", "default");
  return group ? error_of(reader.find_exact(*group, identity_digest(test::amplified_device())))
               : group.error();
}

TEST(AmplifyingBundles, AnExactLookUpRefusesEqualRowsOfExact) {
  const Error error = exact_look_up("equal_exact_rows");
  EXPECT_EQ(error.code, ErrorCode::damaged);
  EXPECT_THAT(error.message, HasSubstr("exact record 1: it is out of order"));
}

TEST(AmplifyingBundles, ALookUpRefusesKernelsWithoutNames) {
  const Error error = exact_look_up("nameless_kernels");
  EXPECT_EQ(error.code, ErrorCode::damaged);
  EXPECT_THAT(error.message, HasSubstr("its kernels are out of order or one has no name"));
}

TEST(AmplifyingBundles, AnExactLookUpRefusesEntriesOfOneTargetAndKind) {
  const Error error = exact_look_up("equal_entry_targets");
  EXPECT_EQ(error.code, ErrorCode::damaged);
  EXPECT_THAT(error.message, HasSubstr("entry 1: an entry before it has the same target and kind"));
}

TEST(AmplifyingBundles, ASourceOfTooManyHeadersIsRefused) {
  const BundleReader reader = opened("many_headers");
  const auto group = reader.find_group("p", "default");
  ASSERT_TRUE(group) << group.error().message;
  const Error error = error_of(reader.read_source(*group));
  EXPECT_EQ(error.code, ErrorCode::limit_exceeded);
  // The size of std::string decides which limit is reached first.
  EXPECT_THAT(error.message, AnyOf(HasSubstr("source: the call needs more than its limit"),
                                   HasSubstr("more than 131072 files")));
}

} // namespace
} // namespace clbin::format
