#include "base/crypto/key_text.hpp"

#include "unit/base/crypto/minisign_files.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace clbin::base {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string text_of(const SecretBytes& file) {
  return std::string(as_text(file.view()));
}

std::string second_line(const std::string& file) {
  const std::size_t start = file.find('\n') + 1;
  return file.substr(start, file.size() - start - 1);
}

template <typename Key>
void expect_invalid(const Result<Key>& key, std::string_view message) {
  ASSERT_FALSE(key.has_value());
  EXPECT_EQ(key.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(key.error().message, message);
}

// The bytes 0, 1, … 31.
Bytes counting_bytes() {
  Bytes bytes(32);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i);
  }
  return bytes;
}

// Pinned: the checks were computed with Python's hashlib.
TEST(KeyText, WritesTheFilesThatTheManualSpecifies) {
  const auto key = ContentKey::from_bytes(counting_bytes()).value();
  EXPECT_EQ(text_of(content_key_file(*key)),
            "untrusted comment: clbin content key "
            "3955F1BFA6EE4420\nQ0sAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eH4qv+TTH3k3C\n");
  const auto secret = RecipientSecretKey::from_bytes(counting_bytes()).value();
  EXPECT_EQ(text_of(recipient_secret_key_file(secret)),
            "untrusted comment: clbin recipient secret key "
            "8F40C5ADB68F2562\nWFMAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eH2ym3WDivkuO\n");
  EXPECT_EQ(recipient_public_key_file(secret.public_key()),
            "untrusted comment: clbin recipient public key "
            "8F40C5ADB68F2562\nWFCPQMWtto8lYkrlshTqdnpuyU2CnT17XhrRum8+ITgoX/4hMUJWnmRr\n");
}

TEST(KeyText, ReadsWhatItWrites) {
  const auto key = ContentKey::generate();
  const auto read = parse_content_key(text_of(content_key_file(*key)));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ((*read)->id(), key->id());
  const RecipientSecretKey secret = RecipientSecretKey::generate();
  EXPECT_EQ(parse_recipient_public_key(recipient_public_key_file(secret.public_key())),
            secret.public_key());
}

TEST(KeyText, ReadsTheSecondLineAloneAndAnyLineEnds) {
  const RecipientPublicKey key = RecipientSecretKey::generate().public_key();
  const std::string line = to_base64(key);
  EXPECT_EQ(parse_recipient_public_key(line), key);
  EXPECT_EQ(parse_recipient_public_key(line + "\r\n\r\n"), key);
  EXPECT_EQ(parse_recipient_public_key("untrusted comment: mine\r\n" + line + "\r\n"), key);
}

TEST(KeyText, ReadsEitherKeyThatDecrypts) {
  const auto key = ContentKey::generate();
  const RecipientSecretKey secret = RecipientSecretKey::generate();
  const auto content = parse_decryption_key(text_of(content_key_file(*key)));
  ASSERT_TRUE(content.has_value());
  EXPECT_EQ(std::get<std::shared_ptr<const ContentKey>>(*content)->id(), key->id());
  const auto recipient = parse_decryption_key(text_of(recipient_secret_key_file(secret)));
  ASSERT_TRUE(recipient.has_value());
  EXPECT_EQ(std::get<RecipientSecretKey>(*recipient).public_key(), secret.public_key());
  expect_invalid(parse_decryption_key(recipient_public_key_file(secret.public_key())),
                 "the public key of a recipient: a content key of clbin or the secret key of a "
                 "recipient is required");
}

TEST(KeyText, NamesAFileOfAnotherKindAndWhatIsRequired) {
  const std::string content = text_of(content_key_file(*ContentKey::generate()));
  const RecipientSecretKey key = RecipientSecretKey::generate();
  const std::string secret = text_of(recipient_secret_key_file(key));
  expect_invalid(parse_content_key(secret),
                 "the secret key of a recipient: a content key of clbin is required");
  expect_invalid(parse_recipient_public_key(content),
                 "a content key of clbin: the public key of a recipient is required");
  expect_invalid(parse_recipient_public_key(secret),
                 "the secret key of a recipient: the public key of a recipient is required");
  expect_invalid(parse_content_key(test::k_secret),
                 "a secret key of minisign: a content key of clbin is required");
  expect_invalid(parse_recipient_public_key(test::k_public),
                 "a public key of minisign: the public key of a recipient is required");
  expect_invalid(parse_decryption_key(test::k_legacy),
                 "a signature of minisign: a content key of clbin or the secret key of a recipient "
                 "is required");
  for (const std::string_view text : {"", "\n", "a\nb\n", "untrusted comment: x\n\n"}) {
    expect_invalid(parse_content_key(text),
                   "not a file of keys: a content key of clbin is required");
  }
}

TEST(KeyText, IsNamedIfATextOnlyBeginsAsAFileOfKeys) {
  const std::string file = text_of(content_key_file(*ContentKey::generate()));
  EXPECT_EQ(name_of_key_file(file), "a content key of clbin");
  EXPECT_EQ(name_of_key_file(second_line(file)), "a content key of clbin");
  EXPECT_EQ(name_of_key_file(file.substr(0, file.size() - 8)), "a damaged file of keys");
  EXPECT_EQ(name_of_key_file(file + std::string(1U << 20U, 'A')), "a damaged file of keys");
  EXPECT_EQ(name_of_key_file("untrusted comment: "), "a damaged file of keys");
  EXPECT_EQ(name_of_key_file("// " + file), std::nullopt);
  EXPECT_EQ(name_of_key_file("kernel void k() {}\n"), std::nullopt);
  EXPECT_EQ(name_of_key_file(""), std::nullopt);
}

TEST(KeyText, RefusesAPublicKeyThatProtectsNothing) {
  RecipientPublicKey one;
  one.bytes[0] = std::byte{1};
  for (const RecipientPublicKey& point : {RecipientPublicKey(), one}) {
    expect_invalid(parse_recipient_public_key(recipient_public_key_file(point)),
                   "the public key of a recipient of small order, which protects nothing");
  }
}

// An editor that ends lines there would show another key as the second line.
TEST(KeyText, RefusesAPublicKeyWithACommentThatHidesALine) {
  const auto secret = RecipientSecretKey::from_bytes(counting_bytes()).value();
  const std::string recipient = second_line(recipient_public_key_file(secret.public_key()));
  const std::string signer = to_base64(MinisignSecretKey::generate().public_key());
  for (const auto& [odd, name] : std::vector<std::pair<std::string, std::string>>{
           {"\r", "control character U+000D"},
           {"\v", "control character U+000B"},
           {std::string(1, '\0'), "control character U+0000"},
           {"\xC2\x85", "control character U+0085"},
           {"\xE2\x80\xA8", "line separator U+2028"},
           {"\x85", "byte 0x85, which is not UTF-8"}}) {
    const std::string comment = "untrusted comment: a" + odd + "RWQ shown\n";
    expect_invalid(parse_recipient_public_key(comment + recipient),
                   "not the public key of a recipient: the line contains the " + name);
    expect_invalid(parse_minisign_public_key(comment + signer),
                   "not a public key of minisign: the line contains the " + name);
  }
  EXPECT_TRUE(
      parse_minisign_public_key("untrusted comment: M\xC3\xBCller\t1\n" + signer).has_value());
}

TEST(KeyText, IsNamedByTheParsersOfMinisign) {
  const std::string content = text_of(content_key_file(*ContentKey::generate()));
  const RecipientSecretKey key = RecipientSecretKey::generate();
  expect_invalid(parse_minisign_public_key(recipient_public_key_file(key.public_key())),
                 "not a public key of minisign: it is the public key of a recipient");
  expect_invalid(parse_minisign_public_key(to_base64(key.public_key())),
                 "not a public key of minisign: it is the public key of a recipient");
  expect_invalid(parse_minisign_secret_key(content, nullptr),
                 "not a secret key of minisign: it is a content key of clbin");
  expect_invalid(parse_minisign_signature(text_of(recipient_secret_key_file(key))),
                 "not a signature of minisign: it is the secret key of a recipient");
}

TEST(KeyText, RefusesAFileOfWhichACharacterDiffersWithoutShowingIt) {
  const std::string file = text_of(content_key_file(*ContentKey::generate()));
  const std::size_t start = file.find('\n') + 1;
  for (std::size_t i = start; i + 1 < file.size(); ++i) {
    std::string changed = file;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    const auto key = parse_content_key(changed);
    ASSERT_FALSE(key.has_value()) << i;
    EXPECT_EQ(key.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(key.error().message, Not(HasSubstr(second_line(changed).substr(4, 8))));
  }
  std::string changed = file;
  changed[start + 10] = changed[start + 10] == 'A' ? 'B' : 'A';
  expect_invalid(parse_content_key(changed),
                 "a content key of clbin that was changed: its check does not match");
}

} // namespace
} // namespace clbin::base
