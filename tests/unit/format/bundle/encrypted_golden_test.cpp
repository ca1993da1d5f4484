// The bundles of tests/golden/encrypted_v1 must stay readable.
#include "base/zstd_codec.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "golden/encrypted_bundles.hpp"
#include "golden/golden_files.hpp"
#include "support/bundle_samples.hpp"

#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ErrorCode;
using test::k_encrypted_golden_names;

const std::string k_folder = "encrypted_v1";

void expect_contents(const BundleReader& reader, const std::string& name) {
  const auto verified = reader.verify();
  EXPECT_TRUE(verified.has_value()) << name << ": " << verified.error().message;
  EXPECT_EQ(test::contents_of(reader).value(), test::contents_file(name, k_folder)) << name;
}

TEST(EncryptedGolden, FilesHoldWhatTheyHeld) {
  for (const std::string name : k_encrypted_golden_names) {
    BundleReader reader = test::must_open(test::golden_file(name, k_folder));
    EXPECT_EQ(reader.verify().error().code, ErrorCode::encrypted) << name;
    const auto opened = reader.unlock(test::golden_content_key());
    ASSERT_TRUE(opened.has_value()) << name << ": " << opened.error().message;
    expect_contents(reader, name);
  }
}

TEST(EncryptedGolden, FilesOpenForTheirRecipients) {
  for (const base::RecipientSecretKey& recipient : {test::alice(), test::bob()}) {
    BundleReader reader = test::must_open(test::golden_file("recipients.clbin", k_folder));
    const auto key = content_key_from(reader.key_slots().value(), recipient);
    ASSERT_TRUE(key.has_value()) << key.error().message;
    ASSERT_TRUE(reader.unlock(*key).has_value());
    expect_contents(reader, "recipients.clbin");
  }
}

// With the key and the slots of the file, which are sealed anew each time that they are made.
TEST(EncryptedGolden, FilesAreWrittenByteForByte) {
  const std::string version(base::as_text(test::golden_file("libzstd-version", k_folder)));
  if (base::zstd_version() != version) {
    GTEST_SKIP() << "the files were made with libzstd " << version << ", this is "
                 << base::zstd_version();
  }
  std::size_t compared = 0;
  for (const auto& [name, bytes] : test::encrypted_bundles()) {
    const Bytes file = test::golden_file(name, k_folder);
    const Encryption encryption{test::golden_content_key(),
                                test::must_open(file).key_slots().value()};
    BundleReader made = test::must_open(bytes);
    ASSERT_TRUE(made.unlock(encryption.key).has_value());
    const BundleReader* const input = &made;
    EXPECT_EQ(merge_bundles({&input, 1}, &encryption).value(), file) << name;
    ++compared;
  }
  EXPECT_EQ(compared, std::size(k_encrypted_golden_names));
}

} // namespace
} // namespace clbin::format
