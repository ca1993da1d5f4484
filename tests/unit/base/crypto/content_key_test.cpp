#include "base/crypto/content_key.hpp"

#include "support/hex_bytes.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace clbin::base {
namespace {

using test::from_hex;

XChaCha20Nonce nonce_of(ByteView bytes) {
  XChaCha20Nonce nonce{};
  std::copy_n(bytes.begin(), nonce.size(), nonce.begin());
  return nonce;
}

// The bytes 0, 1, … 31.
std::shared_ptr<const ContentKey> counting_key() {
  Bytes bytes(ContentKey::k_bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i);
  }
  return ContentKey::from_bytes(bytes).value();
}

// draft-irtf-cfrg-xchacha-03, appendix A.3.1.
constexpr std::string_view k_plain =
    "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
    "sunscreen would be it.";
constexpr std::string_view k_associated = "50515253c0c1c2c3c4c5c6c7";
constexpr std::string_view k_key =
    "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f";
constexpr std::string_view k_nonce = "404142434445464748494a4b4c4d4e4f5051525354555657";
constexpr std::string_view k_ciphertext =
    "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e"
    "39ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3"
    "fff921f9664c97637da9768812f615c68b13b52e";
constexpr std::string_view k_tag = "c0875924c1c7987947deafd8780acf49";

TEST(XChaCha20, EncryptsAndDecryptsTheVectorOfItsDraft) {
  const Bytes key = from_hex(k_key);
  const Bytes associated = from_hex(k_associated);
  const XChaCha20Nonce nonce = nonce_of(from_hex(k_nonce));
  const Bytes expected = from_hex(std::string(k_ciphertext) + std::string(k_tag));
  Bytes sealed(k_plain.size() + k_xchacha20_tag_bytes);
  xchacha20_encrypt(ByteView(key).first<32>(), nonce, associated, as_bytes(k_plain), sealed);
  EXPECT_EQ(sealed, expected);
  const auto plain = xchacha20_decrypt(ByteView(key).first<32>(), nonce, associated, expected);
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(as_text(*plain), k_plain);
}

TEST(XChaCha20, ReturnsNothingIfABitOfAnyInputDiffers) {
  const Bytes key = from_hex(k_key);
  const Bytes associated = from_hex(k_associated);
  const Bytes nonce = from_hex(k_nonce);
  const Bytes sealed = from_hex(std::string(k_ciphertext) + std::string(k_tag));
  const std::array<Bytes, 4> inputs = {key, nonce, associated, sealed};
  for (std::size_t which = 0; which < inputs.size(); ++which) {
    for (std::size_t bit = 0; bit < inputs[which].size() * 8; ++bit) {
      std::array<Bytes, 4> changed = inputs;
      changed[which][bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      EXPECT_FALSE(xchacha20_decrypt(ByteView(changed[0]).first<32>(), nonce_of(changed[1]),
                                     changed[2], changed[3])
                       .has_value())
          << "input " << which << ", bit " << bit;
    }
  }
}

TEST(XChaCha20, ReturnsNothingForFewerBytesThanATag) {
  const Bytes key(32);
  for (std::size_t size = 0; size < k_xchacha20_tag_bytes; ++size) {
    EXPECT_FALSE(xchacha20_decrypt(ByteView(key).first<32>(), {}, {}, Bytes(size)).has_value());
  }
}

// The expected values were computed with Python's hashlib, from what clbin(5) specifies.
TEST(ContentKey, DerivesWhatTheFormatSpecifies) {
  const auto key = counting_key();
  EXPECT_EQ(to_hex(key->id()), "3955f1bfa6ee44204ec61be8d62ffa0ec22ff30a86196dc2be70d6cb62225069");
  EXPECT_EQ(to_hex(key->keyed(digest_of(as_bytes("raw bytes")))),
            "05bb01cf149916062a1264f56c97655047b27f4614d03d471ae70fa59d13d26f");
  const Bytes sealed = key->encrypt(as_bytes("associated"), as_bytes("plain"));
  const Bytes nonce = from_hex("e60cfae5d4aec78a343d9715f161d453fb71b6c0dcc7f06b");
  EXPECT_THAT(Bytes(sealed.begin(), sealed.begin() + 24), ::testing::ElementsAreArray(nonce));
  const Bytes cipher = from_hex("53d77d7acb4f59cd45c8827bd6c8eb8b571e43b294e4132f57c4faf5499cf899");
  const auto plain = xchacha20_decrypt(ByteView(cipher).first<32>(), nonce_of(nonce),
                                       as_bytes("associated"), ByteView(sealed).subspan(24));
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(as_text(*plain), "plain");
}

TEST(ContentKey, EncryptsEqualMessagesEquallyAndOthersUnderAnotherNonce) {
  const auto key = counting_key();
  const auto nonce = [&key](std::string_view associated, std::string_view plain) {
    const Bytes sealed = key->encrypt(as_bytes(associated), as_bytes(plain));
    EXPECT_EQ(sealed.size(), plain.size() + k_encryption_bytes);
    return Bytes(sealed.begin(), sealed.begin() + 24);
  };
  EXPECT_EQ(key->encrypt(as_bytes("a"), as_bytes("b")), key->encrypt(as_bytes("a"), as_bytes("b")));
  EXPECT_NE(nonce("a", "b"), nonce("a", "c"));
  EXPECT_NE(nonce("a", "b"), nonce("c", "b"));
  const auto other = ContentKey::generate();
  EXPECT_NE(other->encrypt(as_bytes("a"), as_bytes("b")),
            key->encrypt(as_bytes("a"), as_bytes("b")));
}

TEST(ContentKey, DecryptsWhatItEncryptedAndNothingElse) {
  const auto key = ContentKey::generate();
  const Bytes sealed = key->encrypt(as_bytes("about"), as_bytes("kernel void f() {}"));
  const auto plain = key->decrypt(as_bytes("about"), sealed);
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(as_text(*plain), "kernel void f() {}");
  EXPECT_FALSE(key->decrypt(as_bytes("aboot"), sealed).has_value());
  EXPECT_FALSE(ContentKey::generate()->decrypt(as_bytes("about"), sealed).has_value());
  for (std::size_t size = 0; size < sealed.size(); ++size) {
    EXPECT_FALSE(key->decrypt(as_bytes("about"), ByteView(sealed).first(size)).has_value());
  }
  for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    Bytes changed = sealed;
    changed[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_FALSE(key->decrypt(as_bytes("about"), changed).has_value()) << bit;
  }
}

TEST(ContentKey, HasItsBytesAndANewIdEachTime) {
  const auto key = ContentKey::generate();
  const auto same = ContentKey::from_bytes(key->bytes());
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ((*same)->id(), key->id());
  EXPECT_NE(ContentKey::generate()->id(), key->id());
}

TEST(ContentKey, RefusesBytesOfAnotherNumber) {
  for (const std::size_t size : {0U, 31U, 33U, 64U}) {
    const auto key = ContentKey::from_bytes(Bytes(size));
    ASSERT_FALSE(key.has_value());
    EXPECT_EQ(key.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(key.error().message, fmt::format("a content key has 32 bytes, not {}", size));
  }
}

} // namespace
} // namespace clbin::base
