#include "format/bundle/encryption.hpp"

#include "golden/encrypted_bundles.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ByteView;
using base::ByteWriter;
using base::ContentKey;
using base::ErrorCode;
using base::RecipientPublicKey;
using base::RecipientSecretKey;
using ::testing::EndsWith;

Bytes encoded(const KeySlot& slot) {
  ByteWriter writer;
  write_record(writer, slot);
  return std::move(writer).take();
}

KeySlot sealed_slot(const ContentKey& key, const RecipientPublicKey& recipient) {
  return {KeyMethod::sealed, 0, key.id(), recipient, base::seal(key, recipient).value()};
}

template <typename Value>
void expect_error(const base::Result<Value>& result, ErrorCode code, std::string_view message) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, code);
  EXPECT_EQ(result.error().message, message);
}

TEST(KeySlots, AreRecordsOf152BytesThatReadBack) {
  const auto key = test::golden_content_key();
  for (const KeySlot& slot :
       {encryption_with(key).slots[0], sealed_slot(*key, test::alice().public_key())}) {
    const Bytes bytes = encoded(slot);
    EXPECT_EQ(bytes.size(), 152U);
    EXPECT_EQ(read_record<KeySlot>(bytes, "key slot 0").value(), slot);
  }
}

TEST(KeySlots, OfMethod1ContainZerosAfterTheKeyId) {
  const Bytes bytes = encoded(encryption_with(test::golden_content_key()).slots[0]);
  for (const std::size_t offset : {4U, 40U, 71U, 72U, 151U}) {
    Bytes changed = bytes;
    changed[offset] = std::byte{1};
    const auto slot = read_record<KeySlot>(changed, "key slot 0");
    ASSERT_FALSE(slot.has_value()) << offset;
    EXPECT_EQ(slot.error().code, ErrorCode::damaged);
  }
  Bytes changed = bytes;
  changed[100] = std::byte{1};
  expect_error(read_record<KeySlot>(changed, "key slot 3"), ErrorCode::damaged,
               "key slot 3: recipient and sealed of method 1 are not zero");
}

TEST(KeySlots, KeepTheBytesOfAMethodOfALaterVersion) {
  KeySlot slot = sealed_slot(*test::golden_content_key(), test::alice().public_key());
  slot.method = static_cast<KeyMethod>(77);
  EXPECT_EQ(read_record<KeySlot>(encoded(slot), "key slot 0").value(), slot);
  EXPECT_TRUE(check_key_slots(std::vector{slot}).has_value());
}

TEST(KeySlots, AreSortedAndOfOneContentKey) {
  const auto key = test::golden_content_key();
  const KeySlot given = encryption_with(key).slots[0];
  const KeySlot for_alice = sealed_slot(*key, test::alice().public_key());
  const KeySlot for_bob = sealed_slot(*key, test::bob().public_key());
  EXPECT_TRUE(check_key_slots(std::vector{given, for_alice, for_bob}).has_value()); // 85… < de…
  expect_error(check_key_slots(std::vector{for_alice, given}), ErrorCode::damaged,
               "key slot 1: it is out of order");
  expect_error(check_key_slots(std::vector{given, given}), ErrorCode::damaged,
               "key slot 1: it is out of order");
  expect_error(check_key_slots({}), ErrorCode::damaged, "KEYS: count is 0, expected 1 to 1024");
  KeySlot other = for_bob;
  other.key_id.bytes[31] ^= std::byte{1};
  expect_error(check_key_slots(std::vector{given, other}), ErrorCode::damaged,
               "key slot 1: its key_id is not that of key slot 0");
  std::vector twice = {for_alice, sealed_slot(*key, test::alice().public_key())};
  std::sort(twice.begin(), twice.end(),
            [](const KeySlot& a, const KeySlot& b) { return encoded(a) < encoded(b); });
  expect_error(check_key_slots(twice), ErrorCode::damaged,
               "key slot 1: a slot before it has the same recipient");
}

TEST(Encryption, SortsItsSlotsAndRefusesThoseOfAnotherKey) {
  const auto key = test::golden_content_key();
  Encryption encryption = encryption_with(key);
  encryption.slots.insert(encryption.slots.begin(), sealed_slot(*key, test::bob().public_key()));
  encryption.slots.insert(encryption.slots.begin(), sealed_slot(*key, test::alice().public_key()));
  const auto sorted = sorted_slots(encryption);
  ASSERT_TRUE(sorted.has_value());
  EXPECT_TRUE(check_key_slots(*sorted).has_value());
  EXPECT_EQ(sorted->size(), 3U);

  encryption.key = ContentKey::generate();
  expect_error(
      sorted_slots(encryption), ErrorCode::invalid_argument,
      fmt::format("the key slots are not those of content key {}", to_hex(encryption.key->id())));
  encryption.slots.clear();
  expect_error(sorted_slots(encryption), ErrorCode::invalid_argument,
               "KEYS: count is 0, expected 1 to 1024");
}

TEST(Encryption, HasASlotForEachRecipientOnce) {
  const auto key = ContentKey::generate();
  const std::vector recipients = {test::bob().public_key(), test::alice().public_key(),
                                  test::bob().public_key()};
  const auto encryption = encryption_for(key, recipients);
  ASSERT_TRUE(encryption.has_value()) << encryption.error().message;
  EXPECT_EQ(encryption->slots.size(), 2U);
  for (const RecipientSecretKey& recipient : {test::alice(), test::bob()}) {
    const auto opened = content_key_from(encryption->slots, recipient);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    EXPECT_EQ((*opened)->id(), key->id());
  }
  EXPECT_NE(encryption_for(key, recipients)->slots, encryption->slots);
}

TEST(Encryption, RefusesNoRecipientTooManyAndNoPublicKey) {
  const auto key = ContentKey::generate();
  expect_error(encryption_for(key, {}), ErrorCode::invalid_argument,
               "a bundle has 1 to 1024 recipients, not 0");
  std::vector<RecipientPublicKey> many(1025);
  for (std::size_t i = 0; i < many.size(); ++i) {
    many[i].bytes = {static_cast<std::byte>(9 + i % 200), static_cast<std::byte>(i / 200)};
  }
  expect_error(encryption_for(key, many), ErrorCode::invalid_argument,
               "a bundle has 1 to 1024 recipients, not 1025");
  const auto small_order = encryption_for(key, std::vector{RecipientPublicKey()});
  ASSERT_FALSE(small_order.has_value());
  EXPECT_THAT(small_order.error().message, EndsWith("is not the public key of a recipient"));
}

TEST(ContentKeyFrom, RefusesWhoeverHasNoSlot) {
  const auto key = test::golden_content_key();
  const std::vector slots = {encryption_with(key).slots[0],
                             sealed_slot(*key, test::alice().public_key())};
  const std::string bob = to_hex(test::bob().public_key());
  expect_error(content_key_from(slots, test::bob()), ErrorCode::wrong_key,
               "the content key is not sealed for recipient " + bob);
  std::vector later = slots;
  later[1].method = static_cast<KeyMethod>(77);
  expect_error(content_key_from(later, test::bob()), ErrorCode::wrong_key,
               "the content key is not sealed for recipient " + bob +
                   " (method 77 of key slot 1 is not known to this version)");
}

// A slot that somebody else made: sealed for the recipient, but with a key of his own.
TEST(ContentKeyFrom, RefusesAChangedSlotAndAnotherContentKey) {
  const auto key = test::golden_content_key();
  const std::string message =
      fmt::format("key slot 0 for recipient {} does not contain the content key: it was changed",
                  to_hex(test::alice().public_key()));
  KeySlot changed = sealed_slot(*key, test::alice().public_key());
  changed.sealed[40] ^= std::byte{1};
  expect_error(content_key_from(std::vector{changed}, test::alice()), ErrorCode::wrong_key,
               message);
  KeySlot other = sealed_slot(*ContentKey::generate(), test::alice().public_key());
  other.key_id = key->id();
  expect_error(content_key_from(std::vector{other}, test::alice()), ErrorCode::wrong_key, message);
}

TEST(BlobBindings, DependOnDigestSizeAndReference) {
  const base::Digest digest = base::digest_of(base::as_bytes("a"));
  const base::Digest reference = base::digest_of(base::as_bytes("b"));
  const BlobBinding binding = binding_of(digest, 0x0102030405060708, reference);
  EXPECT_TRUE(std::equal(digest.bytes.begin(), digest.bytes.end(), binding.begin()));
  EXPECT_EQ(binding[32], std::byte{8});
  EXPECT_EQ(binding[39], std::byte{1});
  EXPECT_TRUE(std::equal(reference.bytes.begin(), reference.bytes.end(), binding.begin() + 40));
  EXPECT_EQ(binding_of(digest, 1, {}), binding_of(digest, 1, base::Digest()));
}

} // namespace
} // namespace clbin::format
