#include "base/crypto/content_key.hpp"
#include "support/hex_bytes.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string_view>

namespace clbin::base {
namespace {

using test::from_hex;

using ::testing::HasSubstr;

// RFC 7748, section 6.1.
TEST(Recipient, HasThePublicKeyOfTheStandard) {
  const auto alice = RecipientSecretKey::from_bytes(
      from_hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"));
  const auto bob = RecipientSecretKey::from_bytes(
      from_hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"));
  ASSERT_TRUE(alice.has_value());
  ASSERT_TRUE(bob.has_value());
  EXPECT_EQ(to_hex(alice->public_key()),
            "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
  EXPECT_EQ(to_hex(bob->public_key()),
            "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
}

TEST(Recipient, OpensWhatIsSealedForItAlone) {
  const auto key = ContentKey::generate();
  const RecipientSecretKey recipient = RecipientSecretKey::generate();
  const auto sealed = seal(*key, recipient.public_key());
  ASSERT_TRUE(sealed.has_value());
  const auto opened = recipient.open_sealed(*sealed);
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  EXPECT_EQ((*opened)->id(), key->id());

  const RecipientSecretKey other = RecipientSecretKey::generate();
  const auto refused = other.open_sealed(*sealed);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::wrong_key);
  EXPECT_EQ(refused.error().message,
            fmt::format("the content key is not sealed for recipient {}, or was changed",
                        to_hex(other.public_key())));
}

TEST(Recipient, OpensNoSealedKeyOfWhichABitDiffers) {
  const RecipientSecretKey recipient = RecipientSecretKey::generate();
  const SealedKey sealed = seal(*ContentKey::generate(), recipient.public_key()).value();
  std::size_t opened = 0;
  for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    SealedKey changed = sealed;
    changed[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    opened += recipient.open_sealed(changed).has_value() ? 1 : 0;
  }
  EXPECT_EQ(opened, 0U);
}

TEST(Recipient, SealsOneKeyDifferentlyEachTime) {
  const auto key = ContentKey::generate();
  const RecipientPublicKey recipient = RecipientSecretKey::generate().public_key();
  EXPECT_NE(seal(*key, recipient).value(), seal(*key, recipient).value());
}

// For a point of small order, the shared secret is zero, whatever the ephemeral key.
TEST(Recipient, SealsNothingForAPointOfSmallOrder) {
  RecipientPublicKey one;
  one.bytes[0] = std::byte{1};
  for (const RecipientPublicKey& point : {RecipientPublicKey(), one}) {
    const auto sealed = seal(*ContentKey::generate(), point);
    ASSERT_FALSE(sealed.has_value());
    EXPECT_EQ(sealed.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(sealed.error().message, HasSubstr("is not the public key of a recipient"));
  }
}

TEST(Recipient, RefusesBytesOfAnotherNumber) {
  const auto key = RecipientSecretKey::from_bytes(Bytes(33));
  ASSERT_FALSE(key.has_value());
  EXPECT_EQ(key.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(key.error().message, "the secret key of a recipient has 32 bytes, not 33");
}

} // namespace
} // namespace clbin::base
