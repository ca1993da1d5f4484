// Bundles of many entries, and bundles that are made to exhaust memory, which take some seconds
// each.
#include "format/bundle/bundle_surgery.hpp"
#include "support/amplifying_bundles.hpp"
#include "support/bundle_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ErrorCode;
using ::testing::HasSubstr;

TEST(BundleWriter, WritesManyEntriesThatEveryReaderReads) {
  BundleInput input{"test 1.0", {}};
  for (unsigned number = 0; number < 200; ++number) {
    ProgramInput& program = input.programs.emplace_back();
    program.name = fmt::format("program{}", number);
    program.variants = {{"default", ""}};
    for (unsigned device = 0; device < 50; ++device) {
      program.entries.push_back(
          test::sample_entry("default", test::sample_device(fmt::format("device {}", device)),
                             test::bytes_of(fmt::format("payload {}", device))));
    }
  }
  const Bytes bytes = test::must_write(input);
  const BundleReader reader = test::must_open(bytes);
  EXPECT_EQ(reader.entry_count(), 10000U);
  const auto verified = reader.verify();
  EXPECT_TRUE(verified.has_value()) << verified.error().message;
}

TEST(AmplifyingBundles, AllOpen) {
  for (const test::AmplifyingKind& kind : test::amplifying_kinds()) {
    const auto reader =
        BundleReader::open(base::owning_source(kind.make(1), std::string(kind.name)), ReadLimits(),
                           TrailingBytes::refuse);
    EXPECT_TRUE(reader.has_value()) << kind.name;
  }
}

Bytes amplifying_bundle(std::string_view name, std::uint32_t scale) {
  for (const test::AmplifyingKind& kind : test::amplifying_kinds()) {
    if (kind.name == name) {
      return kind.make(scale);
    }
  }
  ADD_FAILURE() << "there is no kind " << name;
  return {};
}

// Returns the errors of stripping, unpacking and merging the bundle.
std::vector<base::Error> errors_of_surgery(const Bytes& bytes) {
  const BundleReader reader = test::must_open(bytes);
  const BundleReader* const inputs[] = {&reader};
  std::vector<base::Error> errors;
  const auto add = [&](const auto& result) {
    if (!result) {
      errors.push_back(result.error());
    }
  };
  add(strip_bundle(reader, {}));
  add(unpack_bundle(reader));
  add(merge_bundles(inputs));
  return errors;
}

// A name of 64 KiB in each of 5,000 programs, from a file of 1 MB.
TEST(BundleSurgery, LimitsTheTextsThatRecordsShare) {
  const BundleReader reader = test::must_open(amplifying_bundle("long_variant_name", 1));
  const auto stripped = strip_bundle(reader, {});
  ASSERT_FALSE(stripped.has_value());
  EXPECT_EQ(stripped.error().code, ErrorCode::limit_exceeded);
  EXPECT_THAT(stripped.error().message, testing::StartsWith("the texts of its records exceed "));
}

TEST(BundleSurgery, RefusesTwoGroupsOfTheSameNames) {
  const auto errors = errors_of_surgery(amplifying_bundle("equal_groups", 1));
  ASSERT_EQ(errors.size(), 3U);
  for (const base::Error& error : errors) {
    EXPECT_EQ(error.code, ErrorCode::damaged);
    EXPECT_THAT(error.message, HasSubstr("group 1: a group before it has the same names"));
  }
}

// 65 programs, each of whose manifests has a text of 1 MiB.
TEST(BundleSurgery, LimitsAllManifestsTogether) {
  const auto errors = errors_of_surgery(amplifying_bundle("many_manifests", 4));
  ASSERT_EQ(errors.size(), 3U);
  for (const base::Error& error : errors) {
    EXPECT_EQ(error.code, ErrorCode::limit_exceeded);
    EXPECT_THAT(error.message, testing::ContainsRegex("manifest of program 'q0.*: producer: more "
                                                      "than [0-9]+ bytes of memory"));
  }
}

// Each entry that uses a reference is written separately, but the reference is decompressed once.
TEST(ProvedBlobs, LimitsTheCopiesOfAHeldReference) {
  const BundleReader reader = test::must_open(amplifying_bundle("shared_reference", 1));
  std::uint32_t referring = 0;
  while (reader.blob(referring).value().reference == k_no_index) {
    ++referring;
  }
  const std::uint32_t reference = reader.blob(referring).value().reference;
  ProvedBlobs blobs(reader);
  ASSERT_TRUE(blobs.read(referring).has_value());
  const std::uint64_t limit = reader.budget().raw_limit();
  std::uint64_t read_bytes = 0;
  auto bytes = blobs.read(reference);
  while (bytes.has_value() && read_bytes <= limit) {
    read_bytes += bytes->size();
    bytes = blobs.read(reference);
  }
  ASSERT_FALSE(bytes.has_value()) << read_bytes;
  EXPECT_EQ(bytes.error().code, ErrorCode::limit_exceeded);
  EXPECT_EQ(
      bytes.error().message,
      fmt::format("blob {}: the call needs more than its limit of {} raw bytes", reference, limit));
}

} // namespace
} // namespace clbin::format
