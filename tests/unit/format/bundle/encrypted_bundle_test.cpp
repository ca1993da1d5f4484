// Writing, opening and reading encrypted bundles, with the key, without it, and with another one.
#include "base/zstd_codec.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "format/bundle/signatures.hpp"
#include "golden/encrypted_bundles.hpp"
#include "golden/signed_bundles.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ByteView;
using base::ContentKey;
using base::ErrorCode;
using ::testing::HasSubstr;

constexpr std::string_view k_no_key = "is encrypted, and no key was given";

Bytes write_encrypted(const BundleInput& input, const Encryption& encryption) {
  WriteOptions options{.compression_level = 3};
  options.encryption = encryption;
  auto bytes = write_bundle(input, options);
  EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
  return bytes ? std::move(*bytes) : Bytes();
}

Bytes sample_encrypted() {
  return write_encrypted(test::sample_input(), encryption_with(test::golden_content_key()));
}

BundleReader unlocked(const Bytes& bytes) {
  BundleReader reader = test::must_open(bytes);
  const auto opened = reader.unlock(test::golden_content_key());
  EXPECT_TRUE(opened.has_value()) << opened.error().message;
  return reader;
}

template <typename Value>
void expect_refusal(const base::Result<Value>& result, ErrorCode code, std::string_view message) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, code) << result.error().message;
  EXPECT_EQ(result.error().message, message);
}

bool contains(const Bytes& bytes, std::string_view text) {
  return base::as_text(bytes).find(text) != std::string_view::npos;
}

TEST(EncryptedBundle, ReadsBackAndVerifiesWithItsKey) {
  const Bytes bytes = sample_encrypted();
  const BundleReader reader = unlocked(bytes);
  const auto verified = reader.verify();
  EXPECT_TRUE(verified.has_value()) << verified.error().message;
  const BundleReader plain = test::must_open(test::must_write(test::sample_input()));
  EXPECT_EQ(test::contents_of(reader).value(), test::contents_of(plain).value());
  EXPECT_EQ(reader.content_key()->id(), test::golden_content_key()->id());
  EXPECT_FALSE(reader.is_locked());
}

TEST(EncryptedBundle, HasOnlyBlobsOfCodec2WithKeyedDigests) {
  const BundleReader reader = unlocked(sample_encrypted());
  std::size_t frames = 0;
  std::size_t raw = 0;
  std::size_t references = 0;
  for (std::uint32_t i = 0; i < reader.blob_count(); ++i) {
    const BlobView blob = reader.blob(i).value();
    EXPECT_EQ(blob.codec, 2);
    frames += content_codec(blob) == BlobCodec::zstd ? 1 : 0;
    raw += content_codec(blob) == BlobCodec::stored ? 1 : 0;
    references += blob.reference != k_no_index ? 1 : 0;
    const base::Digest digest = base::digest_of(reader.read_blob(i).value());
    EXPECT_EQ(blob.raw_digest, test::golden_content_key()->keyed(digest));
    EXPECT_NE(blob.raw_digest, digest);
  }
  EXPECT_GT(frames, 0U);
  EXPECT_GT(raw, 0U); // 50 random bytes
  EXPECT_EQ(references, 2U);
}

TEST(EncryptedBundle, ShowsNoContents) {
  BundleInput input = test::sample_input();
  input.programs[0].entries[4].payload = test::bytes_of("incompressible-7Qx2");
  const Bytes plain = test::must_write(input);
  const Bytes bytes = write_encrypted(input, encryption_with(test::golden_content_key()));
  EXPECT_TRUE(contains(plain, "incompressible-7Qx2"));
  EXPECT_FALSE(contains(bytes, "incompressible-7Qx2"));
  EXPECT_TRUE(contains(bytes, "matmul")); // names stay readable
  const base::Digest digest = base::digest_of(base::as_bytes("incompressible-7Qx2"));
  EXPECT_TRUE(contains(plain, base::as_text(digest.bytes)));
  EXPECT_FALSE(contains(bytes, base::as_text(digest.bytes)));
  EXPECT_FALSE(contains(bytes, base::as_text(test::golden_content_key()->bytes())));
}

TEST(EncryptedBundle, HasTheSameBytesWhateverTheOrderOfItsInputs) {
  const std::array recipients = {test::alice().public_key(), test::bob().public_key()};
  Encryption encryption = encryption_for(test::golden_content_key(), recipients).value();
  encryption.slots.push_back(encryption_with(test::golden_content_key()).slots[0]);
  const Bytes bytes = write_encrypted(test::sample_input(), encryption);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    std::rotate(encryption.slots.begin(), encryption.slots.begin() + 1, encryption.slots.end());
    EXPECT_EQ(write_encrypted(test::shuffled(test::sample_input(), seed), encryption), bytes);
  }
}

TEST(EncryptedBundle, HasTheSameBytesIfEncryptedBytesAreSpilled) {
  WriteOptions options{.compression_level = 3};
  options.encryption = encryption_with(test::golden_content_key());
  options.spill = base::SpillFile::create().value();
  EXPECT_EQ(write_bundle(test::sample_input(), options).value(), sample_encrypted());
}

TEST(EncryptedBundle, IsListedWithoutItsKey) {
  const BundleReader reader = test::must_open(sample_encrypted());
  EXPECT_TRUE(reader.is_encrypted());
  EXPECT_TRUE(reader.is_locked());
  EXPECT_EQ(reader.content_key(), nullptr);
  EXPECT_EQ(reader.group_count(), 3U);
  EXPECT_EQ(reader.entry_count(), 7U);
  const auto group = reader.find_group("matmul", "fast");
  ASSERT_TRUE(group.has_value());
  EXPECT_EQ(group->options, "-cl-fast-relaxed-math");
  EXPECT_TRUE(reader.entry(group->first_entry).has_value());
  const auto slots = reader.key_slots();
  ASSERT_TRUE(slots.has_value());
  ASSERT_EQ(slots->size(), 1U);
  EXPECT_EQ((*slots)[0].method, KeyMethod::given);
  EXPECT_EQ((*slots)[0].key_id, test::golden_content_key()->id());
}

TEST(EncryptedBundle, ReturnsEncryptedForItsContentsWithoutAKey) {
  const BundleReader reader = test::must_open(sample_encrypted());
  const GroupView group = reader.find_group("matmul", "default").value();
  const std::string blob = fmt::format("blob 0 {}", k_no_key);
  expect_refusal(reader.read_blob(0), ErrorCode::encrypted, blob);
  expect_refusal(reader.read_manifest(group), ErrorCode::encrypted,
                 fmt::format("manifest of program 'matmul' {}", k_no_key));
  expect_refusal(reader.read_source(group), ErrorCode::encrypted,
                 fmt::format("source of program 'matmul' {}", k_no_key));
  const auto frame = reader.read_frame(0);
  ASSERT_FALSE(frame.has_value());
  EXPECT_EQ(frame.error().code, ErrorCode::encrypted);
  base::ZstdDecompressor decompressor;
  expect_refusal(reader.decompress(0, {}, {}, decompressor), ErrorCode::encrypted, blob);
  EXPECT_EQ(reader.decompressed_count(), 0U);
  EXPECT_EQ(reader.read_stored(0)->view().size(), reader.blob(0)->stored_bytes);
}

TEST(EncryptedBundle, IsCheckedWithoutItsKeyExceptItsContents) {
  const Bytes bytes = sample_encrypted();
  expect_refusal(test::must_open(bytes).verify(), ErrorCode::encrypted,
                 "its contents are encrypted, and no key was given");
  test::CraftedBundle crafted(bytes);
  crafted.section(SectionKind::payload).bytes[30] ^= std::byte{1};
  expect_refusal(test::must_open(crafted.build()).verify(), ErrorCode::digest_mismatch,
                 "blob 0: stored_digest does not match: it was changed");
  crafted = test::CraftedBundle(bytes);
  crafted.swap_records(SectionKind::target, 0, 1);
  EXPECT_EQ(test::must_open(crafted.build()).verify().error().code, ErrorCode::damaged);
}

TEST(EncryptedBundle, RefusesAnotherKey) {
  BundleReader reader = test::must_open(sample_encrypted());
  const auto other = ContentKey::generate();
  const auto refused = reader.unlock(other);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::wrong_key);
  EXPECT_THAT(refused.error().message,
              HasSubstr("does not open it: it is encrypted with 3955F1BFA6EE4420"));
  EXPECT_EQ(reader.content_key(), nullptr);
  EXPECT_EQ(reader.read_blob(0).error().code, ErrorCode::encrypted);
}

TEST(EncryptedBundle, TellsAChildOfForkThatItHasNoKey) {
  constexpr int k_has_key = 2;
  const BundleReader reader = unlocked(sample_encrypted());
  const pid_t child = ::fork();
  if (child == 0) {
    const auto verified = reader.verify();
    const bool is_told = !verified && verified.error().code == ErrorCode::encrypted &&
                         verified.error().message ==
                             "blob 0 is encrypted, and a child of fork() does not get the key: "
                             "open the bundle again";
    ::_exit(is_told ? 0 : verified ? k_has_key : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  if (WEXITSTATUS(status) == k_has_key) {
    GTEST_SKIP() << "this system has no MADV_WIPEONFORK";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(EncryptedBundle, OpensForEachOfItsRecipients) {
  const std::array recipients = {test::alice().public_key(), test::bob().public_key()};
  const auto key = ContentKey::generate();
  const Bytes bytes =
      write_encrypted(test::sample_input(), encryption_for(key, recipients).value());
  for (const base::RecipientSecretKey& recipient : {test::alice(), test::bob()}) {
    BundleReader reader = test::must_open(bytes);
    const auto opened = content_key_from(reader.key_slots().value(), recipient);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    ASSERT_TRUE(reader.unlock(*opened).has_value());
    EXPECT_TRUE(reader.verify().has_value());
  }
}

TEST(EncryptedBundle, IsNotOneWithoutKeys) {
  BundleReader plain = test::must_open(test::must_write(test::sample_input()));
  EXPECT_FALSE(plain.is_encrypted());
  EXPECT_FALSE(plain.is_locked());
  EXPECT_TRUE(plain.key_slots()->empty());
  expect_refusal(plain.unlock(test::golden_content_key()), ErrorCode::invalid_argument,
                 "the bundle is not encrypted");
}

TEST(EncryptedBundle, WithSeveralPagesOfSlotsOpens) {
  std::vector<base::RecipientPublicKey> recipients(30);
  for (base::RecipientPublicKey& recipient : recipients) {
    recipient = base::RecipientSecretKey::generate().public_key();
  }
  recipients.push_back(test::bob().public_key());
  const auto key = ContentKey::generate();
  const BundleReader reader = test::must_open(
      write_encrypted(test::sample_input(), encryption_for(key, recipients).value()));
  EXPECT_EQ(reader.key_slots()->size(), 31U); // 26 per page
  EXPECT_TRUE(content_key_from(reader.key_slots().value(), test::bob()).has_value());
  EXPECT_EQ(reader.verify().error().code, ErrorCode::encrypted);
}

TEST(EncryptedBundle, WithSlotsOfAnotherKeyIsNotWritten) {
  WriteOptions options;
  options.encryption = encryption_with(test::golden_content_key());
  options.encryption->key = ContentKey::generate();
  const auto bytes = write_bundle(test::sample_input(), options);
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(bytes.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(bytes.error().message, HasSubstr("the key slots are not those of content key"));
}

// A later minor version may add sections, whose numbers are higher than that of KEYS.
TEST(EncryptedBundle, StaysOneIfAnUnknownSectionFollowsItsKeys) {
  test::CraftedBundle crafted(sample_encrypted());
  crafted.sections.push_back(
      {{static_cast<SectionKind>(9), k_section_paged, 0, 0, 0, 3}, test::random_bytes(300, 1)});
  BundleReader reader = test::must_open(crafted.build());
  EXPECT_TRUE(reader.is_locked());
  EXPECT_EQ(reader.key_slots()->size(), 1U);
  ASSERT_TRUE(reader.unlock(test::golden_content_key()).has_value());
  const auto verified = reader.verify();
  EXPECT_TRUE(verified.has_value()) << verified.error().message;
}

// What a reader does that does not know KEYS: it skips a section whose bit 0 is clear.
TEST(EncryptedBundle, IsListedByReadersThatDoNotKnowKeys) {
  test::CraftedBundle crafted(sample_encrypted());
  crafted.section(SectionKind::keys).record.kind = static_cast<SectionKind>(9);
  const BundleReader reader = test::must_open(crafted.build());
  EXPECT_FALSE(reader.is_encrypted());
  EXPECT_EQ(reader.entry_count(), 7U);
  expect_refusal(reader.read_blob(0), ErrorCode::encrypted,
                 "blob 0 is encrypted, and the bundle has no section KEYS");
  EXPECT_EQ(reader.verify().error().code, ErrorCode::encrypted);
}

TEST(EncryptedBundle, ObeysTheLimitsOfItsReader) {
  const Bytes bytes = sample_encrypted();
  ReadLimits limits;
  limits.max_raw_bytes = 40;
  auto reader = BundleReader::open(base::memory_source(bytes), limits, TrailingBytes::refuse);
  ASSERT_TRUE(reader.has_value());
  ASSERT_TRUE(reader->unlock(test::golden_content_key()).has_value());
  const auto raw = reader->read_blob(0);
  ASSERT_FALSE(raw.has_value());
  EXPECT_EQ(raw.error().code, ErrorCode::limit_exceeded);
  EXPECT_THAT(raw.error().message, HasSubstr("is above the limit of 40 bytes"));
}

TEST(EncryptedBundle, IsSignedLikeAnyOther) {
  const Bytes bytes = test::signed_with_counter(sample_encrypted(), 7);
  auto reader = BundleReader::open(base::memory_source(bytes), {}, TrailingBytes::refuse,
                                   SignaturePolicy{{test::signing_key().public_key()}, 7});
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  EXPECT_TRUE(reader->is_trusted());
  ASSERT_TRUE(reader->unlock(test::golden_content_key()).has_value());
  EXPECT_TRUE(reader->verify().has_value());
}

TEST(EncryptedBundle, WithoutAProgramIsOne) {
  const Bytes bytes =
      write_encrypted({"test 1.0", {}}, encryption_with(test::golden_content_key()));
  EXPECT_EQ(test::must_open(bytes).verify().error().code, ErrorCode::encrypted);
  EXPECT_TRUE(unlocked(bytes).verify().has_value());
}

} // namespace
} // namespace clbin::format
