// Merge, strip and repack of encrypted bundles: with the same key they copy, otherwise they encrypt
// again, and without an encryption they make plain bundles.
#include "base/file_io.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "golden/encrypted_bundles.hpp"
#include "support/bundle_samples.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ContentKey;
using base::ErrorCode;
using ::testing::HasSubstr;

constexpr int k_level = 3;

bool keep_70(const EntryView& entry) {
  return entry.target.spec == "nvptx:sm_70";
}

Encryption by_golden_key() {
  return encryption_with(test::golden_content_key());
}

BundleReader unlocked(const Bytes& bytes, const std::shared_ptr<const ContentKey>& key) {
  BundleReader reader = test::must_open(bytes);
  if (reader.is_encrypted()) {
    const auto opened = reader.unlock(key);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
  }
  return reader;
}

Bytes merged(const std::vector<BundleReader>& readers, const Encryption* encryption) {
  std::vector<const BundleReader*> inputs;
  std::vector<std::uint64_t> before;
  for (const BundleReader& reader : readers) {
    inputs.push_back(&reader);
    before.push_back(reader.decompressed_count());
  }
  auto bytes = merge_bundles(inputs, encryption);
  EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
  for (std::size_t i = 0; i < readers.size(); ++i) {
    EXPECT_LE(readers[i].decompressed_count() - before[i], readers[i].blob_count())
        << "merge read a payload twice";
  }
  return bytes ? std::move(*bytes) : Bytes();
}

Bytes encrypted_copy(const Bytes& plain, const Encryption& encryption) {
  std::vector<BundleReader> readers;
  readers.push_back(test::must_open(plain));
  return merged(readers, &encryption);
}

Bytes decrypted(const Bytes& bytes, const std::shared_ptr<const ContentKey>& key) {
  std::vector<BundleReader> readers;
  readers.push_back(unlocked(bytes, key));
  return merged(readers, nullptr);
}

// Plain bundles with references, raw and compressed payloads, several pages, and none.
std::vector<Bytes> plain_bundles() {
  return {test::must_write(test::sample_input()), test::must_write(test::large_input(3, 40)),
          test::must_write(test::farm_input(1, 600)), test::must_write({"test 1.0", {}})};
}

// Returns plain bundles of the programs of the sample, which share a payload.
std::vector<Bytes> halves() {
  const BundleInput input = test::sample_input();
  return {test::must_write({"test 1.0", {input.programs[0]}}),
          test::must_write({"test 1.0", {input.programs[1]}})};
}

TEST(EncryptedSurgery, DecryptsToTheBytesThatWereEncrypted) {
  for (const Bytes& plain : plain_bundles()) {
    const Bytes bytes = encrypted_copy(plain, by_golden_key());
    EXPECT_NE(bytes, plain);
    EXPECT_EQ(decrypted(bytes, test::golden_content_key()), plain);
  }
}

TEST(EncryptedSurgery, EncryptsToTheBytesThatTheWriterMakes) {
  WriteOptions options{.compression_level = k_level};
  options.encryption = by_golden_key();
  const Bytes plain = write_bundle(test::sample_input(), {.compression_level = k_level}).value();
  EXPECT_EQ(write_bundle(test::sample_input(), options).value(),
            encrypted_copy(plain, by_golden_key()));
}

TEST(EncryptedSurgery, MergesWithTheSameKeyAsIfItCopied) {
  const Encryption encryption = by_golden_key();
  std::vector<BundleReader> plain;
  std::vector<BundleReader> sealed;
  std::map<base::Digest, base::Digest> stored; // by raw digest, in the inputs
  for (const Bytes& half : halves()) {
    plain.push_back(test::must_open(half));
    sealed.push_back(unlocked(encrypted_copy(half, encryption), encryption.key));
    for (std::uint32_t i = 0; i < sealed.back().blob_count(); ++i) {
      const BlobView blob = sealed.back().blob(i).value();
      stored.emplace(blob.raw_digest, blob.stored_digest);
    }
  }
  const Bytes result = merged(sealed, &encryption);
  EXPECT_EQ(result, encrypted_copy(merged(plain, nullptr), encryption));
  std::reverse(sealed.begin(), sealed.end());
  EXPECT_EQ(merged(sealed, &encryption), result);

  const BundleReader reader = unlocked(result, encryption.key);
  EXPECT_TRUE(reader.verify().has_value());
  std::size_t copied = 0;
  for (std::uint32_t i = 0; i < reader.blob_count(); ++i) {
    const BlobView blob = reader.blob(i).value();
    copied += stored.contains(blob.raw_digest) && stored.at(blob.raw_digest) == blob.stored_digest;
  }
  EXPECT_GE(copied, reader.blob_count() - 2); // two payloads were compressed against another there
}

TEST(EncryptedSurgery, MergesInputsOfDifferentKeysAndPlainOnes) {
  const std::vector<Bytes> plain = halves();
  const auto first = ContentKey::generate();
  const auto second = ContentKey::generate();
  const Encryption third = encryption_with(ContentKey::generate());
  std::vector<BundleReader> originals;
  std::vector<BundleReader> sealed;
  std::vector<BundleReader> mixed;
  originals.push_back(test::must_open(plain[0]));
  originals.push_back(test::must_open(plain[1]));
  sealed.push_back(unlocked(encrypted_copy(plain[0], encryption_with(first)), first));
  sealed.push_back(unlocked(encrypted_copy(plain[1], encryption_with(second)), second));
  mixed.push_back(unlocked(encrypted_copy(plain[0], encryption_with(first)), first));
  mixed.push_back(test::must_open(plain[1]));
  const Bytes expected = merged(originals, nullptr);
  EXPECT_EQ(merged(sealed, &third), encrypted_copy(expected, third));
  EXPECT_EQ(merged(mixed, &third), encrypted_copy(expected, third));
  EXPECT_EQ(merged(sealed, nullptr), expected);
}

TEST(EncryptedSurgery, StripsWithTheSameKeyAsIfItCopied) {
  const Encryption encryption = by_golden_key();
  const Bytes plain = test::must_write(test::sample_input());
  const BundleReader reader = test::must_open(plain);
  const BundleReader sealed = unlocked(encrypted_copy(plain, encryption), encryption.key);
  for (const KeepSource source : {KeepSource::yes, KeepSource::no}) {
    const StripResult expected = strip_bundle(reader, {keep_70, source}).value();
    const auto result = strip_bundle(sealed, {keep_70, source}, &encryption);
    ASSERT_TRUE(result.has_value()) << result.error().message;
    EXPECT_EQ(result->bytes, encrypted_copy(expected.bytes, encryption));
    EXPECT_EQ(result->dropped_entries, expected.dropped_entries);
    EXPECT_EQ(result->hidden_count, expected.hidden_count);
    EXPECT_EQ(strip_bundle(sealed, {keep_70, source})->bytes, expected.bytes);
  }
  EXPECT_GT(strip_bundle(reader, {keep_70, KeepSource::no})->hidden_count, 0U);
}

TEST(EncryptedSurgery, RepacksWithTheSameKeyAsIfItCopied) {
  const Encryption encryption = by_golden_key();
  const Bytes plain = test::must_write(test::sample_input());
  const BundleReader sealed = unlocked(encrypted_copy(plain, encryption), encryption.key);
  WriteOptions options{.compression_level = k_level};
  const Bytes repacked = repack_bundle(test::must_open(plain), options).value();
  EXPECT_EQ(repack_bundle(sealed, options).value(), repacked);
  options.encryption = encryption;
  EXPECT_EQ(repack_bundle(sealed, options).value(), encrypted_copy(repacked, encryption));
  options.spill = base::SpillFile::create().value();
  EXPECT_EQ(repack_bundle(sealed, options).value(), encrypted_copy(repacked, encryption));
}

TEST(EncryptedSurgery, KeepsTheSlotsThatItGets) {
  const std::array recipients = {test::alice().public_key()};
  const Encryption encryption = encryption_for(ContentKey::generate(), recipients).value();
  const Bytes bytes = encrypted_copy(test::must_write(test::sample_input()), encryption);
  BundleReader reader = test::must_open(bytes);
  ASSERT_TRUE(reader.unlock(encryption.key).has_value());
  const Encryption same{reader.content_key(), reader.key_slots().value()};
  EXPECT_EQ(strip_bundle(reader, {}, &same)->bytes, bytes);
}

TEST(EncryptedSurgery, RefusesInputsWithoutTheirKey) {
  const BundleReader locked =
      test::must_open(encrypted_copy(test::must_write(test::sample_input()), by_golden_key()), "a");
  const BundleReader* const input = &locked;
  const Encryption encryption = by_golden_key();
  const auto expect_refused = [](const auto& result) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::encrypted);
    EXPECT_THAT(result.error().message, HasSubstr("is encrypted, and no key was given"));
  };
  expect_refused(merge_bundles({&input, 1}));
  expect_refused(merge_bundles({&input, 1}, &encryption));
  expect_refused(strip_bundle(locked, {}));
  expect_refused(unpack_bundle(locked));
  expect_refused(repack_bundle(locked, {}));
}

TEST(EncryptedSurgery, ProvesTheDigestsOfRawBytes) {
  const Encryption encryption = by_golden_key();
  const BundleReader reader =
      unlocked(encrypted_copy(test::must_write(test::sample_input()), encryption), encryption.key);
  ProvedBlobs proved(reader);
  for (std::uint32_t i = 0; i < reader.blob_count(); ++i) {
    const auto frame = reader.read_frame(i);
    ASSERT_TRUE(frame.has_value());
    const auto digest = proved.check(i, frame->view());
    ASSERT_TRUE(digest.has_value()) << digest.error().message;
    EXPECT_EQ(*digest, base::digest_of(reader.read_blob(i).value()));
    EXPECT_EQ(encryption.key->keyed(*digest), reader.blob(i)->raw_digest);
    EXPECT_EQ(proved.digest(i), *digest);
  }
}

} // namespace
} // namespace clbin::format
