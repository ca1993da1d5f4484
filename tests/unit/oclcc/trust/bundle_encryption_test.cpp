#include "trust/bundle_encryption.hpp"

#include "base/file_io.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "support/bundle_samples.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace oclcc::trust {
namespace {

namespace format = clbin::format;
using clbin::base::ContentKey;
using clbin::base::RecipientSecretKey;
using format::BundleReader;
using format::Encryption;
using format::KeyMethod;
using format::KeySlot;

using SharedKey = std::shared_ptr<const ContentKey>;

BundleReader unlocked_bundle(const SharedKey& key, std::vector<KeySlot> slots) {
  format::WriteOptions options;
  options.encryption = Encryption{key, std::move(slots)};
  auto bytes = format::write_bundle(clbin::test::sample_input(), options);
  auto reader = BundleReader::open(clbin::base::owning_source(std::move(bytes.value()), "bundle"),
                                   {}, format::TrailingBytes::refuse);
  EXPECT_TRUE(reader->unlock(key).has_value());
  return std::move(reader.value());
}

KeySlot slot_of_a_later_version(const ContentKey& key, unsigned char first_byte) {
  KeySlot slot;
  slot.method = static_cast<KeyMethod>(7);
  slot.key_id = key.id();
  slot.sealed[0] = static_cast<std::byte>(first_byte);
  return slot;
}

TEST(EncryptionOfAnOutput, KeepsEverySlotOfAMethodThatThisVersionDoesNotKnow) {
  const SharedKey key = ContentKey::generate();
  const std::vector<KeySlot> slots = {format::encryption_with(key).slots[0],
                                      slot_of_a_later_version(*key, 1),
                                      slot_of_a_later_version(*key, 2)};
  const BundleReader bundle = unlocked_bundle(key, slots);
  const std::vector<const BundleReader*> inputs = {&bundle, &bundle};
  const auto encryption = encryption_of(inputs);
  ASSERT_TRUE(encryption.has_value());
  EXPECT_EQ((*encryption)->slots, bundle.key_slots().value());
  EXPECT_EQ((*encryption)->slots.size(), 3U);
}

TEST(EncryptionOfAnOutput, HasOneSlotForARecipientOfSeveralInputs) {
  const SharedKey key = ContentKey::generate();
  const std::vector recipients = {RecipientSecretKey::generate().public_key()};
  const BundleReader a = unlocked_bundle(key, format::encryption_for(key, recipients)->slots);
  const BundleReader b = unlocked_bundle(key, format::encryption_for(key, recipients)->slots);
  const std::vector<const BundleReader*> inputs = {&a, &b};
  const std::vector<const BundleReader*> reversed = {&b, &a};
  const auto encryption = encryption_of(inputs);
  ASSERT_TRUE(encryption.has_value());
  EXPECT_EQ((*encryption)->slots.size(), 1U);
  EXPECT_EQ((*encryption)->slots, encryption_of(reversed).value()->slots);
}

TEST(EncryptionOfAnOutput, HasANoteOnlyIfPlainInputsAreAmongEncryptedOnes) {
  const SharedKey key = ContentKey::generate();
  const BundleReader encrypted = unlocked_bundle(key, format::encryption_with(key).slots);
  const BundleReader plain =
      clbin::test::must_open(clbin::test::must_write(clbin::test::sample_input()));
  EXPECT_FALSE(note_of_plain_inputs(std::vector{&plain, &plain}).has_value());
  EXPECT_FALSE(note_of_plain_inputs(std::vector{&encrypted, &encrypted}).has_value());
  const auto note = note_of_plain_inputs(std::vector{&plain, &encrypted});
  ASSERT_TRUE(note.has_value());
  EXPECT_EQ(*note, note_of_plain_inputs(std::vector{&encrypted, &plain}).value());
}

} // namespace
} // namespace oclcc::trust
