// Encrypted bundles that somebody without the key changed, with every digest computed anew, and
// some that somebody with the key made wrong. No plaintext differs from what was encrypted.
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "golden/encrypted_bundles.hpp"
#include "golden/signed_bundles.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ByteView;
using base::ErrorCode;
using ::testing::HasSubstr;

// Offsets in BLOB and KEYS.
constexpr std::size_t k_raw_digest = 0;
constexpr std::size_t k_stored_digest = 32;
constexpr std::size_t k_offset = 64;
constexpr std::size_t k_stored_bytes = 72;
constexpr std::size_t k_raw_bytes = 80;
constexpr std::size_t k_reference = 88;
constexpr std::size_t k_codec = 92;
constexpr std::size_t k_blob_bytes = 96;
constexpr std::size_t k_key_id = 8;
constexpr std::size_t k_recipient = 40;
constexpr std::ptrdiff_t k_nonce_bytes = 24;

Bytes encrypted(const Bytes& plain, const Encryption& encryption) {
  const BundleReader reader = test::must_open(plain);
  const BundleReader* const input = &reader;
  return merge_bundles({&input, 1}, &encryption).value();
}

Bytes small_bundle() {
  return encrypted(test::bundle_to_sign(test::k_signed_payload),
                   encryption_with(test::golden_content_key()));
}

Bytes sample_bundle() {
  return encrypted(test::must_write(test::sample_input()),
                   encryption_with(test::golden_content_key()));
}

// A copy of the bytes, opened and unlocked.
base::Result<BundleReader> open(ByteView bytes) {
  auto reader = BundleReader::open(base::owning_source({bytes.begin(), bytes.end()}, "memory"), {},
                                   TrailingBytes::refuse);
  if (reader) {
    CLBIN_TRY(reader->unlock(test::golden_content_key()));
  }
  return reader;
}

std::vector<Bytes> contents_of_blobs(const Bytes& bytes) {
  const BundleReader reader = open(bytes).value();
  std::vector<Bytes> contents;
  for (std::uint32_t i = 0; i < reader.blob_count(); ++i) {
    contents.push_back(reader.read_blob(i).value());
  }
  return contents;
}

// Returns whether a blob of the changed bundle reads as anything that it was not.
bool reads_otherwise(const Bytes& changed, const std::vector<Bytes>& contents) {
  const auto reader = open(changed);
  for (std::uint32_t i = 0; reader && i < reader->blob_count(); ++i) {
    const auto raw = reader->read_blob(i);
    if (raw && (i >= contents.size() || *raw != contents[i])) {
      return true;
    }
  }
  return false;
}

std::size_t offset_of(test::CraftedBundle& crafted, std::uint32_t blob) {
  return static_cast<std::size_t>(crafted.u64_at(SectionKind::blob, blob, k_offset));
}

std::size_t size_of(test::CraftedBundle& crafted, std::uint32_t blob) {
  return static_cast<std::size_t>(crafted.u64_at(SectionKind::blob, blob, k_stored_bytes));
}

// Computes the stored digest anew, as anybody can.
void reseal(test::CraftedBundle& crafted, std::uint32_t blob) {
  const ByteView payload = crafted.section(SectionKind::payload).bytes;
  const base::Digest digest =
      base::digest_of(payload.subspan(offset_of(crafted, blob), size_of(crafted, blob)));
  crafted.set_bytes(SectionKind::blob, blob, k_stored_digest, digest.bytes);
}

void expect_damaged_slots(const test::CraftedBundle& crafted, std::string_view message) {
  const auto reader = open(crafted.build());
  ASSERT_FALSE(reader.has_value());
  EXPECT_EQ(reader.error().code, ErrorCode::damaged);
  EXPECT_EQ(reader.error().message, message);
}

void expect_blob_error(const Bytes& bytes, std::uint32_t blob, ErrorCode code,
                       std::string_view message) {
  const auto reader = open(bytes);
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  const auto raw = reader->read_blob(blob);
  ASSERT_FALSE(raw.has_value());
  EXPECT_EQ(raw.error().code, code);
  EXPECT_EQ(raw.error().message, message);
}

TEST(EncryptedAttack, EveryBitOfTheStoredBytesIsUnderTheTag) {
  const Bytes bytes = small_bundle();
  test::CraftedBundle crafted(bytes);
  for (std::uint32_t blob = 0; blob < 3; ++blob) {
    const std::size_t start = offset_of(crafted, blob);
    const std::size_t bits = size_of(crafted, blob) * 8;
    for (std::size_t bit = 0; bit < bits; ++bit) {
      std::byte& changed = crafted.section(SectionKind::payload).bytes[start + bit / 8];
      const auto mask = static_cast<std::byte>(1U << (bit % 8));
      changed ^= mask;
      reseal(crafted, blob);
      const auto reader = open(crafted.build());
      ASSERT_TRUE(reader.has_value());
      const auto raw = reader->read_blob(blob);
      ASSERT_FALSE(raw.has_value()) << "blob " << blob << ", bit " << bit;
      ASSERT_EQ(raw.error().code, ErrorCode::digest_mismatch);
      ASSERT_EQ(raw.error().message,
                fmt::format("blob {}: its tag does not match: it was changed", blob));
      ASSERT_EQ(reader->decompressed_count(), 0U) << "zstd saw bytes before the tag was checked";
      changed ^= mask;
    }
    reseal(crafted, blob);
  }
  EXPECT_EQ(crafted.build(), bytes);
}

TEST(EncryptedAttack, NoBitOfTheTableOfBlobsChangesWhatIsRead) {
  const Bytes bytes = sample_bundle();
  const std::vector<Bytes> contents = contents_of_blobs(bytes);
  test::CraftedBundle crafted(bytes);
  for (std::size_t bit = 0; bit < contents.size() * k_blob_bytes * 8; ++bit) {
    std::byte& changed = crafted.section(SectionKind::blob).bytes[bit / 8];
    const auto mask = static_cast<std::byte>(1U << (bit % 8));
    changed ^= mask;
    ASSERT_FALSE(reads_otherwise(crafted.build(), contents)) << "bit " << bit;
    changed ^= mask;
  }
}

TEST(EncryptedAttack, NoBitOfTheBundleIsReadOtherwise) {
  Bytes bytes = small_bundle();
  const std::vector<Bytes> contents = contents_of_blobs(bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1U << (bit % 8));
    bytes[bit / 8] ^= mask;
    const auto reader = open(bytes);
    ASSERT_FALSE(reader && reader->verify()) << "bit " << bit;
    ASSERT_FALSE(reads_otherwise(bytes, contents)) << "bit " << bit;
    bytes[bit / 8] ^= mask;
  }
}

TEST(EncryptedAttack, EveryCutIsRefused) {
  const Bytes bytes = small_bundle();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(open(ByteView(bytes).first(size)).has_value()) << size;
  }
}

// The bytes of one blob in the place of another: the binding is that of the row.
TEST(EncryptedAttack, SwappedBlobsAreRefused) {
  const Bytes bytes = sample_bundle();
  const BundleReader reader = open(bytes).value();
  std::size_t tried = 0;
  for (std::uint32_t a = 0; a < reader.blob_count(); ++a) {
    for (std::uint32_t b = 0; b < reader.blob_count(); ++b) {
      if (a == b) {
        continue;
      }
      const BlobView other = reader.blob(b).value();
      test::CraftedBundle crafted(bytes);
      crafted.set_bytes(SectionKind::blob, a, k_stored_digest, other.stored_digest.bytes);
      crafted.set_u64(SectionKind::blob, a, k_offset, other.offset);
      crafted.set_u64(SectionKind::blob, a, k_stored_bytes, other.stored_bytes);
      crafted.set_u64(SectionKind::blob, a, k_raw_bytes, other.raw_bytes);
      crafted.set_u32(SectionKind::blob, a, k_reference,
                      other.reference == a ? reader.blob(a)->reference : other.reference);
      const auto changed = open(crafted.build());
      ASSERT_TRUE(changed.has_value());
      ASSERT_FALSE(changed->read_blob(a).has_value()) << a << " as " << b;
      ++tried;
    }
  }
  EXPECT_GT(tried, 50U);
}

TEST(EncryptedAttack, SwappedNoncesAreRefused) {
  test::CraftedBundle crafted(small_bundle());
  Bytes& payload = crafted.section(SectionKind::payload).bytes;
  const auto first = payload.begin() + static_cast<std::ptrdiff_t>(offset_of(crafted, 0));
  std::swap_ranges(first, first + k_nonce_bytes,
                   payload.begin() + static_cast<std::ptrdiff_t>(offset_of(crafted, 1)));
  for (const std::uint32_t blob : {0U, 1U}) {
    reseal(crafted, blob);
  }
  const Bytes bytes = crafted.build();
  expect_blob_error(bytes, 0, ErrorCode::digest_mismatch,
                    "blob 0: its tag does not match: it was changed");
  expect_blob_error(bytes, 1, ErrorCode::digest_mismatch,
                    "blob 1: its tag does not match: it was changed");
}

// The slots of another bundle, of whose key the attacker knows nothing either.
TEST(EncryptedAttack, SwappedSlotsOpenNothing) {
  const auto other = base::ContentKey::generate();
  test::CraftedBundle crafted(small_bundle());
  crafted.set_bytes(SectionKind::keys, 0, k_key_id, other->id().bytes);
  const Bytes bytes = crafted.build();
  const auto refused = open(bytes);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::wrong_key);
  BundleReader reader = test::must_open(bytes);
  ASSERT_TRUE(reader.unlock(other).has_value());
  EXPECT_EQ(reader.read_blob(0).error().message, "blob 0: its tag does not match: it was changed");
}

TEST(EncryptedAttack, APlainBlobInAnEncryptedBundleIsRefused) {
  for (const std::uint8_t codec : {std::uint8_t{0}, std::uint8_t{1}}) {
    test::CraftedBundle crafted(small_bundle());
    crafted.set_u8(SectionKind::blob, 1, k_codec, codec);
    const Bytes bytes = crafted.build();
    const std::string message =
        fmt::format("blob 1: codec is {}, but the bundle is encrypted", codec);
    expect_blob_error(bytes, 1, ErrorCode::damaged, message);
    EXPECT_EQ(test::must_open(bytes).verify().error().message, message);
  }
}

TEST(EncryptedAttack, AnEncryptedBlobInAPlainBundleIsRefused) {
  test::CraftedBundle crafted(small_bundle());
  crafted.sections.pop_back();
  const BundleReader reader = test::must_open(crafted.build());
  const auto raw = reader.read_blob(1);
  ASSERT_FALSE(raw.has_value());
  EXPECT_EQ(raw.error().code, ErrorCode::encrypted);
  EXPECT_EQ(raw.error().message, "blob 1 is encrypted, and the bundle has no section KEYS");
}

TEST(EncryptedAttack, SizesThatNoEncryptionHasAreRefused) {
  const BundleReader reader = open(small_bundle()).value();
  const std::uint64_t stored = reader.blob(0)->stored_bytes;
  for (const std::uint64_t raw_bytes : {std::uint64_t{1}, stored - 41}) {
    test::CraftedBundle crafted(small_bundle());
    crafted.set_u64(SectionKind::blob, 0, k_raw_bytes, raw_bytes);
    expect_blob_error(
        crafted.build(), 0, ErrorCode::damaged,
        fmt::format("blob 0: codec 2 with stored_bytes {}, raw_bytes {}", stored, raw_bytes));
  }
  for (const std::uint64_t few : {std::uint64_t{8}, std::uint64_t{39}, std::uint64_t{40}}) {
    test::CraftedBundle crafted(small_bundle());
    crafted.set_u64(SectionKind::blob, 0, k_stored_bytes, few);
    EXPECT_EQ(open(crafted.build())->read_blob(0).error().code, ErrorCode::damaged);
  }
  test::CraftedBundle crafted(small_bundle());
  crafted.set_u64(SectionKind::blob, 0, k_raw_bytes, stored - 40);
  crafted.set_u32(SectionKind::blob, 0, k_reference, 1);
  expect_blob_error(
      crafted.build(), 0, ErrorCode::damaged,
      fmt::format("blob 0: codec 2 with stored_bytes {}, raw_bytes {} and a reference", stored,
                  stored - 40));
}

TEST(EncryptedAttack, KeysThatBreakARuleOfTheDirectoryAreRefused) {
  test::CraftedBundle crafted(small_bundle());
  crafted.section(SectionKind::keys).record.flags |= k_section_required;
  expect_damaged_slots(crafted, "KEYS: its flags mark it as required");
  crafted = test::CraftedBundle(small_bundle());
  crafted.section(SectionKind::keys).record.record_bytes = 8;
  expect_damaged_slots(crafted, "KEYS: record_bytes is 8, expected 152");
  crafted = test::CraftedBundle(small_bundle());
  crafted.section(SectionKind::keys).bytes.clear();
  expect_damaged_slots(crafted, "KEYS: count is 0, expected 1 to 1024");
  crafted = test::CraftedBundle(small_bundle());
  crafted.section(SectionKind::keys).bytes.resize(std::size_t{1025} * 152);
  expect_damaged_slots(crafted, "KEYS: count is 1025, expected 1 to 1024");
  crafted = test::CraftedBundle(small_bundle());
  crafted.edit_pages = [](Bytes& pages) { pages[pages.size() - 40] = std::byte{1}; };
  expect_damaged_slots(crafted,
                       "page 0 of KEYS: first_key is 0x0000000000000001, its first record has "
                       "0x0000000000000000");
}

// Without the key, too, because the rules of KEYS need none.
TEST(EncryptedAttack, SlotsThatBreakARuleAreRefused) {
  const auto key = test::golden_content_key();
  const std::array recipients = {test::alice().public_key(), test::bob().public_key()};
  Encryption encryption = encryption_for(key, recipients).value();
  encryption.slots.push_back(encryption_with(key).slots[0]);
  const Bytes bytes = encrypted(test::bundle_to_sign(test::k_signed_payload), encryption);
  ASSERT_TRUE(open(bytes).has_value());
  const auto expect_refused = [](const test::CraftedBundle& crafted, std::string_view message) {
    const Bytes changed = crafted.build();
    const BundleReader reader = test::must_open(changed);
    EXPECT_EQ(reader.key_slots().error().message, message);
    const auto verified = reader.verify();
    ASSERT_FALSE(verified.has_value());
    EXPECT_EQ(verified.error().code, ErrorCode::damaged);
    EXPECT_EQ(verified.error().message, message);
    expect_damaged_slots(crafted, message);
  };
  test::CraftedBundle crafted(bytes);
  crafted.swap_records(SectionKind::keys, 0, 1);
  expect_refused(crafted, "key slot 1: it is out of order");
  crafted = test::CraftedBundle(bytes);
  crafted.set_bytes(SectionKind::keys, 2, k_recipient, test::alice().public_key().bytes);
  const auto twice = test::must_open(crafted.build()).key_slots();
  ASSERT_FALSE(twice.has_value());
  EXPECT_THAT(twice.error().message, HasSubstr("key slot 2: ")); // a sealed box is random
  crafted = test::CraftedBundle(bytes);
  crafted.set_u8(SectionKind::keys, 2, k_key_id, 1);
  expect_refused(crafted, "key slot 2: its key_id is not that of key slot 0");
  crafted = test::CraftedBundle(bytes);
  crafted.set_u8(SectionKind::keys, 0, 4, 1);
  EXPECT_EQ(open(crafted.build()).error().code, ErrorCode::damaged);
}

// A method of a later version: whoever has the content key needs no slot.
TEST(EncryptedAttack, SlotsOfALaterMethodAreNotNeededWithTheKey) {
  test::CraftedBundle crafted(small_bundle());
  crafted.set_u32(SectionKind::keys, 0, 0, 77);
  const auto reader = open(crafted.build());
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  EXPECT_TRUE(reader->verify().has_value());
  const auto refused = content_key_from(reader->key_slots().value(), test::alice());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::wrong_key);
  EXPECT_THAT(refused.error().message, HasSubstr("method 77 of key slot 0 is not known"));
}

// Whoever has the key can encrypt under a digest that is not that of the raw bytes. Reading does
// not check it; verify, merge and unpack do.
TEST(EncryptedAttack, AWrongRawDigestUnderARightTagIsFound) {
  const Bytes bytes = small_bundle();
  const BundleReader reader = open(bytes).value();
  const BlobView blob = reader.blob(0).value();
  base::Digest digest = blob.raw_digest;
  digest.bytes[31] ^= std::byte{1};
  const Bytes sealed = test::golden_content_key()->encrypt(binding_of(digest, blob.raw_bytes, {}),
                                                           reader.read_frame(0)->view());
  test::CraftedBundle crafted(bytes);
  crafted.set_bytes(SectionKind::blob, 0, k_raw_digest, digest.bytes);
  std::copy(sealed.begin(), sealed.end(),
            crafted.section(SectionKind::payload).bytes.begin() +
                static_cast<std::ptrdiff_t>(offset_of(crafted, 0)));
  reseal(crafted, 0);
  const Bytes changed = crafted.build();
  const BundleReader wrong = open(changed).value();
  EXPECT_TRUE(wrong.read_blob(0).has_value());
  const auto verified = wrong.verify();
  ASSERT_FALSE(verified.has_value());
  EXPECT_EQ(verified.error().code, ErrorCode::digest_mismatch);
  EXPECT_EQ(verified.error().message, "blob 0: raw_digest does not match its raw bytes");
  const BundleReader* const input = &wrong;
  EXPECT_EQ(merge_bundles({&input, 1}).error().code, ErrorCode::digest_mismatch);
  EXPECT_EQ(unpack_bundle(wrong).error().code, ErrorCode::digest_mismatch);
}

} // namespace
} // namespace clbin::format
