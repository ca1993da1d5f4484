#include "base/crypto/ed25519.hpp"

#include "base/crypto/secret_bytes.hpp"
#include "support/hex_bytes.hpp"
#include "support/secret_search.hpp"

#include <algorithm>
#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace clbin::base {
namespace {

using test::from_hex;

template <typename Type>
Type of_hex(std::string_view text) {
  const Bytes bytes = from_hex(text);
  Type result;
  EXPECT_EQ(bytes.size(), result.bytes.size());
  std::copy(bytes.begin(), bytes.end(), result.bytes.begin());
  return result;
}

struct Vector {
  std::string_view seed;
  std::string_view public_key;
  std::string_view message;
  std::string_view signature;
};

// RFC 8032, section 7.1: tests 1, 2, 3 and SHA(abc).
constexpr Vector k_vectors[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b"
     "4"
     "6bd25bf5f0595bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11"
     "d"
     "8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc"
     "6"
     "594a7c15e9716ed28dc027beceea1ec40a"},
    {"833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
     "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3fee"
     "b"
     "bd454d4423643ce80e2a9ac94fa54ca49f",
     "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e"
     "0"
     "303dca179c138ac17ad9bef1177331a704"},
};

SecretKey key_of(const Vector& vector) {
  const Bytes seed = from_hex(vector.seed);
  return SecretKey::from_seed(ByteView(seed).first<32>());
}

TEST(Ed25519, SignsTheVectorsOfRfc8032) {
  for (const Vector& vector : k_vectors) {
    const SecretKey key = key_of(vector);
    EXPECT_EQ(to_hex(key.public_key()), vector.public_key);
    EXPECT_EQ(key.sign(from_hex(vector.message)), of_hex<Signature>(vector.signature));
  }
}

TEST(Ed25519, HoldsForTheVectorsOfRfc8032AndForNoOtherBit) {
  for (const Vector& vector : k_vectors) {
    const auto key = of_hex<PublicKey>(vector.public_key);
    const auto signature = of_hex<Signature>(vector.signature);
    Bytes message = from_hex(vector.message);
    EXPECT_TRUE(holds(signature, key, message));
    for (std::size_t bit = 0; bit < 8 * sizeof(Signature); ++bit) {
      Signature changed = signature;
      changed.bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      EXPECT_FALSE(holds(changed, key, message)) << "bit " << bit << " of the signature";
    }
    for (std::size_t bit = 0; bit < 8 * sizeof(PublicKey); ++bit) {
      PublicKey changed = key;
      changed.bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      EXPECT_FALSE(holds(signature, changed, message)) << "bit " << bit << " of the key";
    }
    message.push_back(std::byte{0});
    EXPECT_FALSE(holds(signature, key, message));
  }
}

// With a key A of small order and R = -h A, S = 0, the equation of RFC 8032 can hold for messages
// that nobody signed.
TEST(Ed25519, NeverHoldsForAKeyOrAPointOfSmallOrder) {
  const std::string_view small_orders[] = {
      "0000000000000000000000000000000000000000000000000000000000000000",
      "0100000000000000000000000000000000000000000000000000000000000000",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
      "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // not canonical
  };
  for (const std::string_view key : small_orders) {
    for (const std::string_view point : small_orders) {
      Signature signature; // S = 0
      const auto start = of_hex<PublicKey>(point);
      std::copy(start.bytes.begin(), start.bytes.end(), signature.bytes.begin());
      for (unsigned char message = 0; message < 16; ++message) {
        EXPECT_FALSE(holds(signature, of_hex<PublicKey>(key), Bytes{std::byte{message}}));
      }
    }
  }
}

// S + L is the same number modulo the order of the group.
TEST(Ed25519, RefusesANumberThatIsNotReduced) {
  const Bytes order = from_hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
  const Vector& vector = k_vectors[2];
  auto signature = of_hex<Signature>(vector.signature);
  unsigned carry = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const unsigned sum = std::to_integer<unsigned>(signature.bytes[32 + i]) +
                         std::to_integer<unsigned>(order[i]) + carry;
    signature.bytes[32 + i] = static_cast<std::byte>(sum & 0xffU);
    carry = sum >> 8U;
  }
  ASSERT_EQ(carry, 0U);
  EXPECT_FALSE(holds(signature, of_hex<PublicKey>(vector.public_key), from_hex(vector.message)));
}

TEST(Ed25519, ReadsASecretKeyOnlyWithItsOwnPublicKey) {
  const SecretKey key = key_of(k_vectors[0]);
  const auto same = SecretKey::from_bytes(key.bytes().first<64>());
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->public_key(), key.public_key());
  Bytes bytes(key.bytes().begin(), key.bytes().end());
  bytes[63] ^= std::byte{1};
  const auto other = SecretKey::from_bytes(ByteView(bytes).first<64>());
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(other.error().message, "the public key is not that of the secret key");
}

TEST(Ed25519, GeneratesDifferentKeysThatSign) {
  const SecretKey one = SecretKey::generate();
  const SecretKey two = SecretKey::generate();
  EXPECT_NE(one.public_key(), two.public_key());
  const Bytes message = from_hex("abcd");
  EXPECT_TRUE(holds(one.sign(message), one.public_key(), message));
  EXPECT_FALSE(holds(one.sign(message), two.public_key(), message));
}

TEST(SecretBytes, AreZeroAtFirstAndOverwrittenWhenShortened) {
  SecretBytes secret = SecretBytes::copy_of(as_bytes("passphrase"));
  const std::byte* const bytes = secret.view().data();
  secret.shorten(4);
  EXPECT_EQ(as_text(secret.view()), "pass");
  EXPECT_TRUE(std::all_of(bytes + 4, bytes + 10, [](std::byte b) { return b == std::byte{0}; }));
  const SecretBytes fresh(3);
  EXPECT_EQ(as_text(fresh.view()), std::string_view("\0\0\0", 3));
  EXPECT_EQ(SecretBytes().size(), 0U);
}

// RFC 4648, section 10.
TEST(Base64, IsThatOfRfc4648) {
  const std::pair<std::string_view, std::string_view> vectors[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
  };
  for (const auto& [text, base64] : vectors) {
    EXPECT_EQ(to_base64(as_bytes(text)), base64);
    const auto bytes = from_base64(base64, text.size());
    ASSERT_TRUE(bytes.has_value()) << base64;
    EXPECT_EQ(as_text(bytes->view()), text);
  }
}

TEST(Base64, RefusesAllButTheCanonicalForm) {
  for (const std::string_view text :
       {"Zg", "Zg=", "Zg= ", "Zh==", "Z===", "Z-==", "Zg==\n", " Zg==", "Zg==Zg==", "====", ""}) {
    EXPECT_FALSE(from_base64(text, 1).has_value()) << text;
  }
  EXPECT_FALSE(from_base64("Zm9v", 2).has_value());
}

// RFC 7914, section 12: N = 1024, r = 8, p = 16, dkLen = 64 is not reachable by libsodium's costs,
// N = 16384, r = 8, p = 1 is.
TEST(Scrypt, IsThatOfRfc7914) {
  Bytes salt(32);
  const ScryptCost cost{524288, 16777216}; // N = 16384, r = 8, p = 1
  const auto key = scrypt(as_bytes("password"), ByteView(salt).first<32>(), cost, 64);
  ASSERT_TRUE(key.has_value()) << key.error().message;
  // python3 -c 'import hashlib; print(hashlib.scrypt(b"password", salt=bytes(32), n=16384, r=8,
  // p=1, dklen=64).hex())'
  const Bytes expected =
      from_hex("a828d83580110cc6c839c61fe9f009604234e2f01e7898d2cbf5887cdbf52d5db77e4b4ca8c9a0482cb"
               "a76385f88171c4b5b67e4f7daf18f78bc5cb0889658b7");
  EXPECT_EQ(Bytes(key->view().begin(), key->view().end()), expected);
}

TEST(Scrypt, RefusesACostThatNoKeyFileShouldHave) {
  const Bytes salt(32);
  const auto too_much = scrypt({}, ByteView(salt).first<32>(), {1, (4ULL << 30U) + 1}, 32);
  ASSERT_FALSE(too_much.has_value());
  EXPECT_EQ(too_much.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(too_much.error().message, "scrypt with 1 operations and 4294967297 bytes is above the "
                                      "limits of 4294967296 and 4294967296");
  EXPECT_EQ(scrypt({}, ByteView(salt).first<32>(), {(1ULL << 32U) + 1, 1}, 32).error().code,
            ErrorCode::invalid_argument);
}

TEST(SecretBytes, AreZerosInACopyOfTheProcess) {
  if (!test::can_wipe_on_fork()) {
    GTEST_SKIP() << "this system has no MADV_WIPEONFORK";
  }
  const Bytes secret(4000, std::byte{7});
  const SecretBytes bytes = SecretBytes::copy_of(secret);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto view = bytes.view();
    ::_exit(std::all_of(view.begin(), view.end(), [](std::byte b) { return b == std::byte{0}; })
                ? 0
                : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(std::equal(secret.begin(), secret.end(), bytes.view().begin()));
}

TEST(SecretBytes, ACopyOfTheProcessFreesThem) {
  constexpr std::array<std::size_t, 5> k_sizes = {0, 1, 160, 4096, 4097};
  std::vector<SecretBytes> all;
  for (const std::size_t size : k_sizes) {
    all.emplace_back(size);
  }
  const pid_t child = ::fork();
  if (child == 0) {
    all.clear();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

} // namespace
} // namespace clbin::base
