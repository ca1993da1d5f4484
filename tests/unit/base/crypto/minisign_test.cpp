#include "base/crypto/key_text.hpp"

#include "unit/base/crypto/minisign_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace clbin::base {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const ByteView k_hello = as_bytes("hello");

SecretBytes secret(std::string_view text) {
  return SecretBytes::copy_of(as_bytes(text));
}

MinisignSecretKey key_of_minisign() {
  auto key = parse_minisign_secret_key(test::k_secret, nullptr);
  EXPECT_TRUE(key.has_value()) << key.error().message;
  return std::move(*key);
}

// Returns `text` with the character at `index` replaced.
std::string changed(std::string_view text, std::size_t index, char character) {
  std::string copy(text);
  copy[index] = copy[index] == character ? '0' : character;
  return copy;
}

void expect_invalid(const Error& error, std::string_view message) {
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_THAT(error.message, HasSubstr(message));
}

TEST(Minisign, ReadsAndWritesThePublicKeyOfMinisign) {
  const auto key = parse_minisign_public_key(test::k_public);
  ASSERT_TRUE(key.has_value()) << key.error().message;
  EXPECT_EQ(to_text(key->id), "1720FE13B3E5D86E");
  EXPECT_EQ(to_hex(key->key), "2def60e960512728233129c49504ec67e5f5a6b4f434bc9165097618a25975d6");
  EXPECT_EQ(minisign_public_key_file(*key), test::k_public);
}

TEST(Minisign, ReadsAPublicKeyWithoutItsCommentAndWithAnyLineEnds) {
  const auto key = parse_minisign_public_key(test::k_public).value();
  EXPECT_EQ(parse_minisign_public_key(to_base64(key)), key);
  EXPECT_EQ(parse_minisign_public_key(to_base64(key) + "\r\n\n"), key);
  EXPECT_EQ(parse_minisign_public_key("untrusted comment: any\r\n" + to_base64(key)), key);
}

TEST(Minisign, RefusesWhatIsNoPublicKey) {
  for (const std::string_view text : {"", "\n", "RW", "untrusted comment: minisign public key\n"}) {
    const auto key = parse_minisign_public_key(text);
    ASSERT_FALSE(key.has_value()) << text;
    expect_invalid(key.error(), "not a public key of minisign: ");
  }
  const std::string line = to_base64(key_of_minisign().public_key());
  expect_invalid(parse_minisign_public_key(line + "\n" + line).error(),
                 "it is neither a line of base64 nor a comment and such a line");
  expect_invalid(parse_minisign_public_key(line + "A").error(),
                 "its key is not base64 of 42 bytes");
  expect_invalid(parse_minisign_public_key(" " + line).error(),
                 "its key is not base64 of 42 bytes");
  expect_invalid(parse_minisign_public_key(changed(line, 1, 'X')).error(),
                 "its algorithm is not known");
  expect_invalid(parse_minisign_public_key(test::k_secret).error(),
                 "not a public key of minisign: it is a secret key of minisign");
}

TEST(Minisign, ReadsAndWritesTheUnprotectedKeyOfMinisign) {
  EXPECT_EQ(protection_of_minisign_key(test::k_secret), KeyProtection::none);
  EXPECT_EQ(protection_of_minisign_key(test::k_protected_secret), KeyProtection::passphrase);
  const MinisignSecretKey key = key_of_minisign();
  EXPECT_EQ(key.public_key(), parse_minisign_public_key(test::k_public));
  const auto file = minisign_secret_key_file(key, nullptr, k_sensitive_cost);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(as_text(file->view()), test::k_secret);
}

TEST(Minisign, ReadsAProtectedKeyWithItsPassphraseAlone) {
  const MinisignSecretKey key = MinisignSecretKey::generate();
  const SecretBytes passphrase = secret("correct horse");
  const auto file = minisign_secret_key_file(key, &passphrase, k_interactive_cost);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const std::string_view text = as_text(file->view());
  EXPECT_THAT(text, StartsWith("untrusted comment: minisign encrypted secret key\nRWRTY0Iy"));

  const auto same = parse_minisign_secret_key(text, &passphrase);
  ASSERT_TRUE(same.has_value()) << same.error().message;
  EXPECT_EQ(same->public_key(), key.public_key());
  const SecretBytes wrong = secret("correct house");
  expect_invalid(parse_minisign_secret_key(text, &wrong).error(),
                 "wrong passphrase for the secret key");
  expect_invalid(parse_minisign_secret_key(text, nullptr).error(),
                 "the secret key requires a passphrase");
  const auto again = minisign_secret_key_file(key, &passphrase, k_interactive_cost);
  EXPECT_NE(as_text(again->view()), text); // another salt
}

TEST(Minisign, RefusesWhatIsNoSecretKey) {
  expect_invalid(parse_minisign_secret_key("", nullptr).error(),
                 "it does not have a comment and a line of base64");
  expect_invalid(protection_of_minisign_key("untrusted comment: \nRWR").error(),
                 "its second line is not base64 of 158 bytes");
  expect_invalid(protection_of_minisign_key(test::k_public).error(),
                 "not a secret key of minisign: it is a public key of minisign");
  const std::size_t line = test::k_secret.find('\n') + 1;
  expect_invalid(parse_minisign_secret_key(changed(test::k_secret, line + 1, 'X'), nullptr).error(),
                 "its algorithms are not known");
  const std::size_t public_half = line + (54 + 8 + 40) * 4 / 3;
  expect_invalid(
      parse_minisign_secret_key(changed(test::k_secret, public_half, 'Q'), nullptr).error(),
      "the public key is not that of the secret key");
}

// Ed25519 is deterministic: equal keys, messages and comments have equal files.
TEST(Minisign, WritesTheBytesThatMinisignWrites) {
  const MinisignSecretKey key = key_of_minisign();
  for (const std::string_view file : {test::k_legacy, test::k_prehashed}) {
    const auto by_minisign = parse_minisign_signature(file);
    ASSERT_TRUE(by_minisign.has_value()) << by_minisign.error().message;
    MinisignSignature ours;
    ours.hashing = by_minisign->hashing;
    ours.id = key.id;
    const Bytes message = minisign_message(k_hello, ours.hashing);
    EXPECT_EQ(message.size(), ours.hashing == MinisignHashing::legacy ? k_hello.size() : 64U);
    ours.signature = key.key.sign(message);
    ours.trusted_comment = by_minisign->trusted_comment;
    ours.global_signature =
        key.key.sign(minisign_global_message(ours.signature, ours.trusted_comment));
    EXPECT_EQ(minisign_signature_file(ours), file);
  }
}

TEST(Minisign, ChecksTheSignaturesOfMinisign) {
  const auto key = parse_minisign_public_key(test::k_public).value();
  for (const std::string_view file : {test::k_legacy, test::k_prehashed}) {
    const auto signature = parse_minisign_signature(file).value();
    EXPECT_TRUE(check_minisign_signature(signature, key, k_hello).has_value());
    const auto other_bytes = check_minisign_signature(signature, key, as_bytes("hellp"));
    ASSERT_FALSE(other_bytes.has_value());
    EXPECT_EQ(other_bytes.error().code, ErrorCode::bad_signature);
    EXPECT_EQ(other_bytes.error().message, "the signature by key 1720FE13B3E5D86E does not hold");
  }
  EXPECT_EQ(parse_minisign_signature(test::k_legacy)->hashing, MinisignHashing::legacy);
  EXPECT_EQ(parse_minisign_signature(test::k_prehashed)->hashing, MinisignHashing::prehashed);
}

TEST(Minisign, RefusesAnotherTrustedCommentAndAnotherKey) {
  const auto key = parse_minisign_public_key(test::k_public).value();
  auto signature = parse_minisign_signature(test::k_prehashed).value();
  signature.trusted_comment += "!";
  const auto comment = check_minisign_signature(signature, key, k_hello);
  ASSERT_FALSE(comment.has_value());
  EXPECT_EQ(comment.error().code, ErrorCode::bad_signature);
  EXPECT_EQ(comment.error().message,
            "the signature by key 1720FE13B3E5D86E of the trusted comment does not hold");
  const auto other = parse_minisign_public_key(test::k_protected_public).value();
  const auto untrusted = check_minisign_signature(signature, other, k_hello);
  ASSERT_FALSE(untrusted.has_value());
  EXPECT_EQ(untrusted.error().code, ErrorCode::untrusted_key);
  EXPECT_EQ(untrusted.error().message,
            "the signature is by key 1720FE13B3E5D86E, not by key E0EB6F58456D0967");
}

// A signature that is prehashed does not hold for the hash itself as a legacy message.
TEST(Minisign, DistinguishesTheTwoHashings) {
  const auto key = parse_minisign_public_key(test::k_public).value();
  auto signature = parse_minisign_signature(test::k_prehashed).value();
  signature.hashing = MinisignHashing::legacy;
  EXPECT_FALSE(check_minisign_signature(signature, key, k_hello).has_value());
}

TEST(Minisign, RefusesWhatIsNoSignature) {
  expect_invalid(parse_minisign_signature("").error(), "its four lines are not");
  expect_invalid(parse_minisign_signature("untrusted comment: \nRUR\n").error(),
                 "its four lines are not");
  expect_invalid(parse_minisign_signature(test::k_public).error(),
                 "not a signature of minisign: it is a public key of minisign");
  const std::size_t line = test::k_legacy.find('\n') + 1;
  expect_invalid(parse_minisign_signature(changed(test::k_legacy, line, '*')).error(),
                 "its lines are not base64 of 74 and 64 bytes");
  expect_invalid(parse_minisign_signature(changed(test::k_legacy, line + 1, 'Z')).error(),
                 "its algorithm is not known");
}

TEST(Minisign, RefusesATrustedCommentThatWouldBreakTheFile) {
  for (const std::string& comment : {std::string("a\nb"), std::string(4097, 'a')}) {
    const auto checked = check_trusted_comment(comment);
    ASSERT_FALSE(checked.has_value());
    expect_invalid(checked.error(), "the trusted comment contains a control character or has "
                                    "more than 4096 bytes");
  }
}

} // namespace
} // namespace clbin::base
