#include "base/crypto/key_text.hpp"

#include "base/crypto/base64.hpp"
#include "base/crypto/key_kind.hpp"

#include <algorithm>
#include <optional>

namespace clbin::base {

namespace {

constexpr std::string_view k_content_key = "CK";
constexpr std::string_view k_recipient_secret = "XS";
constexpr std::string_view k_recipient_public = "XP";

constexpr std::size_t k_kind_bytes = 2;
constexpr std::size_t k_key_bytes = 32;
constexpr std::size_t k_check_bytes = 8;
constexpr std::size_t k_checked_bytes = k_kind_bytes + k_key_bytes;
constexpr std::size_t k_line_bytes = k_checked_bytes + k_check_bytes;
constexpr std::size_t k_named_bytes = 8;

std::string upper_hex(ByteView bytes) {
  std::string text;
  for (const std::byte value : bytes) {
    text += fmt::format("{:02X}", std::to_integer<unsigned>(value));
  }
  return text;
}

// Returns the first bytes of the digest of kind and key.
ByteView check_of(ByteView kind_and_key, Digest& digest) {
  digest = digest_of(kind_and_key);
  return ByteView(digest.bytes).first(k_check_bytes);
}

// Returns the 42 bytes of the line of base64.
SecretBytes encode(std::string_view kind, ByteView key) {
  SecretBytes bytes(k_line_bytes);
  auto end = std::copy_n(as_bytes(kind).begin(), k_kind_bytes, bytes.writable().begin());
  end = std::copy(key.begin(), key.end(), end);
  Digest digest;
  const ByteView check = check_of(bytes.view().first(k_checked_bytes), digest);
  std::copy(check.begin(), check.end(), end);
  return bytes;
}

SecretBytes file_of(std::string_view comment, const SecretBytes& bytes) {
  const SecretBytes base64 = to_secret_base64(bytes.view());
  const std::string first = fmt::format("{}{}\n", k_untrusted_comment, comment);
  SecretBytes file(first.size() + base64.size() + 1);
  auto end = std::copy_n(as_bytes(first).begin(), first.size(), file.writable().begin());
  end = std::copy_n(base64.view().begin(), base64.size(), end);
  *end = std::byte{'\n'};
  return file;
}

// Returns the 42 bytes of a file of one of our kinds, which the caller has recognized.
Result<SecretBytes> decode(std::string_view text, KeyTextKind kind) {
  std::optional<SecretBytes> bytes = from_base64(lines_of_key_text(text).back(), k_line_bytes);
  Digest digest;
  if (!bytes || !std::ranges::equal(check_of(bytes->view().first(k_checked_bytes), digest),
                                    bytes->view().last(k_check_bytes))) {
    return fail(ErrorCode::invalid_argument, "{} that was changed: its check does not match",
                to_string(kind));
  }
  return std::move(*bytes);
}

tl::unexpected<Error> not_wanted(KeyTextKind found, std::string_view wanted) {
  return fail(ErrorCode::invalid_argument, "{}: {} is required", to_string(found), wanted);
}

ByteView key_in(const SecretBytes& line) noexcept {
  return line.view().subspan(k_kind_bytes, k_key_bytes);
}

} // namespace

std::string to_text(const ContentKeyId& id) {
  return upper_hex(ByteView(id.bytes).first(k_named_bytes));
}

std::string to_text(const RecipientPublicKey& key) {
  return upper_hex(ByteView(key.bytes).first(k_named_bytes));
}

Result<std::shared_ptr<const ContentKey>> parse_content_key(std::string_view text) {
  const KeyTextKind kind = kind_of_key_text(text);
  if (kind != KeyTextKind::content_key) {
    return not_wanted(kind, to_string(KeyTextKind::content_key));
  }
  CLBIN_TRY_ASSIGN(const SecretBytes line, decode(text, kind));
  return ContentKey::from_bytes(key_in(line));
}

Result<RecipientSecretKey> parse_recipient_secret_key(std::string_view text) {
  const KeyTextKind kind = kind_of_key_text(text);
  if (kind != KeyTextKind::recipient_secret_key) {
    return not_wanted(kind, to_string(KeyTextKind::recipient_secret_key));
  }
  CLBIN_TRY_ASSIGN(const SecretBytes line, decode(text, kind));
  return RecipientSecretKey::from_bytes(key_in(line));
}

Result<RecipientPublicKey> parse_recipient_public_key(std::string_view text) {
  const KeyTextKind kind = kind_of_key_text(text);
  if (kind != KeyTextKind::recipient_public_key) {
    return not_wanted(kind, to_string(KeyTextKind::recipient_public_key));
  }
  CLBIN_TRY(check_lines_of_key(lines_of_key_text(text), kind));
  CLBIN_TRY_ASSIGN(const SecretBytes line, decode(text, kind));
  RecipientPublicKey key;
  std::ranges::copy(key_in(line), key.bytes.begin());
  if (!is_usable(key)) {
    return fail(ErrorCode::invalid_argument, "{} of small order, which protects nothing",
                to_string(kind));
  }
  return key;
}

Result<DecryptionKey> parse_decryption_key(std::string_view text) {
  const KeyTextKind kind = kind_of_key_text(text);
  if (kind == KeyTextKind::content_key) {
    CLBIN_TRY_ASSIGN(std::shared_ptr<const ContentKey> key, parse_content_key(text));
    return DecryptionKey(std::move(key));
  }
  if (kind == KeyTextKind::recipient_secret_key) {
    CLBIN_TRY_ASSIGN(RecipientSecretKey key, parse_recipient_secret_key(text));
    return DecryptionKey(std::move(key));
  }
  return not_wanted(kind, "a content key of clbin or the secret key of a recipient");
}

SecretBytes content_key_file(const ContentKey& key) {
  return file_of(fmt::format("clbin content key {}", to_text(key.id())),
                 encode(k_content_key, key.bytes()));
}

SecretBytes recipient_secret_key_file(const RecipientSecretKey& key) {
  return file_of(fmt::format("clbin recipient secret key {}", to_text(key.public_key())),
                 encode(k_recipient_secret, key.bytes()));
}

std::string recipient_public_key_file(const RecipientPublicKey& key) {
  return std::string(as_text(file_of(fmt::format("clbin recipient public key {}", to_text(key)),
                                     encode(k_recipient_public, key.bytes))
                                 .view()));
}

std::string to_base64(const RecipientPublicKey& key) {
  return to_base64(encode(k_recipient_public, key.bytes).view());
}

} // namespace clbin::base
