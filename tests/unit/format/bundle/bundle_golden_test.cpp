// Golden bundles must stay readable, and writing them again must give the same bytes.
#include "base/zstd_codec.hpp"
#include "golden/golden_bundles.hpp"
#include "golden/golden_files.hpp"
#include "support/bundle_samples.hpp"

#include <gtest/gtest.h>
#include <set>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ErrorCode;
using test::contents_file;
using test::golden_file;
using test::k_golden_names;

TEST(BundleGolden, FilesHoldWhatTheyHeld) {
  for (const std::string name : k_golden_names) {
    const auto reader = test::open_bytes(golden_file(name));
    ASSERT_TRUE(reader.has_value()) << name << ": " << reader.error().message;
    const auto verified = reader->verify();
    EXPECT_TRUE(verified.has_value()) << name << ": " << verified.error().message;
    EXPECT_EQ(test::contents_of(*reader).value(), contents_file(name)) << name;
  }
}

TEST(BundleGolden, FilesOfLaterVersionsHoldWhatTheyHeld) {
  for (const auto& [folder, bundles] : {std::pair("measured_v1", test::measured_bundles()),
                                        std::pair("answers_v1", test::answered_bundles()),
                                        std::pair("packs_v1", test::split_bundles())}) {
    const std::string version(base::as_text(golden_file("libzstd-version", folder)));
    for (const auto& [name, bytes] : bundles) {
      const auto reader = test::open_bytes(golden_file(name, folder));
      ASSERT_TRUE(reader.has_value()) << name << ": " << reader.error().message;
      const auto verified = reader->verify();
      EXPECT_TRUE(verified.has_value()) << name << ": " << verified.error().message;
      EXPECT_EQ(reader->has_rankings(), folder == std::string("measured_v1")) << name;
      EXPECT_EQ(reader->has_packs(), name == "base.clbin") << name;
      EXPECT_EQ(test::contents_of(*reader).value(), contents_file(name, folder)) << name;
      EXPECT_TRUE(base::zstd_version() != version || bytes == golden_file(name, folder)) << name;
    }
  }
}

TEST(BundleGolden, FilesAreWrittenByteForByte) {
  const std::string version(base::as_text(golden_file("libzstd-version")));
  if (base::zstd_version() != version) {
    GTEST_SKIP() << "the files were made with libzstd " << version << ", this is "
                 << base::zstd_version();
  }
  std::size_t compared = 0;
  for (const auto& [name, bytes] : test::golden_bundles()) {
    EXPECT_EQ(bytes, golden_file(name)) << name;
    ++compared;
  }
  EXPECT_EQ(compared, std::size(k_golden_names));
}

// The kinds of the entries' payloads, and the numbers of hidden payloads and of payloads with a
// reference.
struct Found {
  std::set<BinaryKind> kinds;
  std::set<PayloadType> types;
  std::set<std::uint32_t> named;
  std::size_t hidden = 0;
  std::size_t referring = 0;
};

Found found_in(const std::string& name) {
  const BundleReader reader = test::must_open(golden_file(name));
  Found found;
  for (std::uint32_t i = 0; i < reader.group_count(); ++i) {
    const GroupView group = reader.group(i).value();
    found.named.insert({group.source_blob, group.manifest_blob});
  }
  for (std::uint32_t i = 0; i < reader.entry_count(); ++i) {
    const EntryView entry = reader.entry(i).value();
    found.kinds.insert(entry.kind);
    found.types.insert(entry.type);
    found.named.insert(entry.blob);
  }
  for (std::uint32_t i = 0; i < reader.blob_count(); ++i) {
    found.hidden += found.named.contains(i) ? 0U : 1U;
    found.referring += reader.blob(i)->reference != k_no_index ? 1U : 0U;
  }
  return found;
}

TEST(BundleGolden, FilesHoldWhatFormat1Has) {
  EXPECT_EQ(found_in("every_kind.clbin").kinds.size(), 14U);
  EXPECT_EQ(
      found_in("other_types.clbin").types,
      (std::set{PayloadType::executable, PayloadType::library, PayloadType::compiled_object}));
  EXPECT_EQ(found_in("two_programs.clbin").referring, 2U);
  EXPECT_EQ(found_in("stripped.clbin").hidden, 1U);
  EXPECT_EQ(found_in("merged.clbin").hidden, 1U);
  EXPECT_EQ(found_in("merged.clbin").referring, 1U);
  const BundleReader many = test::must_open(golden_file("many_pages.clbin"));
  std::set<std::string> targets;
  for (std::uint32_t i = 0; i < many.entry_count(); ++i) {
    targets.insert(std::string(many.entry(i)->target.device_name));
  }
  EXPECT_EQ(targets.size(), 66U);      // 64 per page
  EXPECT_EQ(many.group_count(), 103U); // 102 per page
  EXPECT_EQ(many.entry_count(), 309U); // 128 per page, 256 in EXACT
  EXPECT_EQ(many.blob_count(), 46U);   // 42 per page
}

TEST(BundleGolden, EveryPrefixIsRefused) {
  for (const std::string name : k_golden_names) {
    const Bytes bytes = golden_file(name);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto reader = BundleReader::open(base::memory_source(base::ByteView(bytes).first(size)),
                                             {}, TrailingBytes::ignore);
      ASSERT_FALSE(reader.has_value()) << name << " cut to " << size;
      ASSERT_EQ(reader.error().code, size == 0 ? ErrorCode::not_a_bundle : ErrorCode::truncated)
          << name << " cut to " << size << ": " << reader.error().message;
    }
  }
}

} // namespace
} // namespace clbin::format
