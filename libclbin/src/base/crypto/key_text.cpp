#include "base/crypto/key_text.hpp"

#include "base/crypto/sodium.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace clbin::base {

namespace {

constexpr std::string_view k_untrusted_comment = "untrusted comment: ";

// Keys that encrypt: kind, key, and the first bytes of the digest of both.
constexpr std::string_view k_content_key = "CK";
constexpr std::string_view k_recipient_secret = "XS";
constexpr std::string_view k_recipient_public = "XP";
constexpr std::size_t k_kind_bytes = 2;
constexpr std::size_t k_key_bytes = 32;
constexpr std::size_t k_check_bytes = 8;
constexpr std::size_t k_checked_bytes = k_kind_bytes + k_key_bytes;
constexpr std::size_t k_line_bytes = k_checked_bytes + k_check_bytes;
constexpr std::size_t k_named_bytes = 8;

// Minisign.
constexpr std::string_view k_trusted = "trusted comment: ";
constexpr std::string_view k_legacy_algorithm = "Ed";
constexpr std::string_view k_prehashed_algorithm = "ED";
constexpr std::string_view k_scrypt = "Sc";
constexpr std::string_view k_no_derivation("\0\0", 2);
constexpr std::string_view k_checksum = "B2";
constexpr std::string_view k_secret_comment = "minisign encrypted secret key";
constexpr std::string_view k_signature_comment = "signature from minisign secret key";

constexpr std::size_t k_id_bytes = sizeof(MinisignKeyId);
constexpr std::size_t k_minisign_public_bytes = 2 + k_id_bytes + sizeof(PublicKey);
constexpr std::size_t k_signature_bytes = 2 + k_id_bytes + sizeof(Signature);
constexpr std::size_t k_salt_bytes = 32;
constexpr std::size_t k_secret_bytes = 64;
// Key id, secret key and checksum, which a passphrase encrypts.
constexpr std::size_t k_protected_bytes = k_id_bytes + k_secret_bytes + sizeof(Digest);
constexpr std::size_t k_secret_key_head_bytes = 6 + k_salt_bytes + 2 * sizeof(std::uint64_t);
constexpr std::size_t k_minisign_secret_bytes = k_secret_key_head_bytes + k_protected_bytes;

struct KeyShape {
  std::size_t size_bytes;
  std::string_view start;
  std::size_t lines;
  KeyTextKind kind;
};

constexpr std::array<KeyShape, 7> k_shapes = {{
    {42, k_content_key, 2, KeyTextKind::content_key},
    {42, k_recipient_secret, 2, KeyTextKind::recipient_secret_key},
    {42, k_recipient_public, 2, KeyTextKind::recipient_public_key},
    {42, k_legacy_algorithm, 2, KeyTextKind::minisign_public_key},
    {158, k_legacy_algorithm, 2, KeyTextKind::minisign_secret_key},
    {74, k_legacy_algorithm, 4, KeyTextKind::minisign_signature},
    {74, k_prehashed_algorithm, 4, KeyTextKind::minisign_signature},
}};

// Returns the lines without empty lines at the end.
std::vector<std::string_view> lines_of_key_text(std::string_view text) {
  std::vector<std::string_view> lines = split_lines(text);
  while (!lines.empty() && lines.back().empty()) {
    lines.pop_back();
  }
  return lines;
}

tl::unexpected<Error> not_a(KeyTextKind kind, std::string_view reason) {
  return fail(ErrorCode::invalid_argument, "not {}: {}", to_string(kind), reason);
}

// Errors: invalid_argument, if a line is one that editors can show as several lines (check_line).
// For public keys: the key that is trusted is then the one that its owner sees.
Result<void> check_lines_of_key(const std::vector<std::string_view>& lines, KeyTextKind kind) {
  for (const std::string_view line : lines) {
    if (const auto checked = check_line(line); !checked.has_value()) {
      return not_a(kind, checked.error().message);
    }
  }
  return {};
}

// Returns the bytes of the line of base64.
SecretBytes encode(std::string_view kind, ByteView key) {
  SecretBytes bytes(k_line_bytes);
  auto end = std::copy_n(as_bytes(kind).begin(), k_kind_bytes, bytes.writable().begin());
  end = std::copy(key.begin(), key.end(), end);
  const Digest digest = digest_of(bytes.view().first(k_checked_bytes));
  std::copy_n(digest.bytes.begin(), k_check_bytes, end);
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

tl::unexpected<Error> not_wanted(KeyTextKind found, std::string_view wanted) {
  return fail(ErrorCode::invalid_argument, "{}: {} is required", to_string(found), wanted);
}

// Returns the key in a text of this kind, which is one of ours.
Result<SecretBytes> decode(std::string_view text, KeyTextKind kind) {
  if (const KeyTextKind found = kind_of_key_text(text); found != kind) {
    return not_wanted(found, to_string(kind));
  }
  const auto bytes = from_base64(lines_of_key_text(text).back(), k_line_bytes).value();
  const Digest digest = digest_of(bytes.view().first(k_checked_bytes));
  if (!std::ranges::equal(ByteView(digest.bytes).first(k_check_bytes),
                          bytes.view().last(k_check_bytes))) {
    return fail(ErrorCode::invalid_argument, "{} that was changed: its check does not match",
                to_string(kind));
  }
  return SecretBytes::copy_of(bytes.view().subspan(k_kind_bytes, k_key_bytes));
}

template <std::size_t size>
std::array<std::byte, size> array_of(ByteView bytes) {
  std::array<std::byte, size> copy{};
  std::copy_n(bytes.begin(), size, copy.begin());
  return copy;
}

// Rejects a file of keys of another kind by its name. The caller explains every other text.
Result<void> reject_other_kinds(std::string_view text, KeyTextKind wanted) {
  const KeyTextKind found = kind_of_key_text(text);
  if (found == wanted || found == KeyTextKind::unknown) {
    return {};
  }
  return not_a(wanted, fmt::format("it is {}", to_string(found)));
}

// The fields of a secret key file. `body` is encrypted if a passphrase protects the key.
struct SecretKeyFile {
  KeyProtection protection = KeyProtection::none;
  std::array<std::byte, k_salt_bytes> salt{};
  ScryptCost cost;
  SecretBytes body;
};

Result<SecretKeyFile> decode_secret_key_file(std::string_view text) {
  constexpr KeyTextKind k_kind = KeyTextKind::minisign_secret_key;
  CLBIN_TRY(reject_other_kinds(text, k_kind));
  const std::vector<std::string_view> lines = lines_of_key_text(text);
  if (lines.size() != 2 || !lines[0].starts_with(k_untrusted_comment)) {
    return not_a(k_kind, "it does not have a comment and a line of base64");
  }
  const std::optional<SecretBytes> bytes = from_base64(lines[1], k_minisign_secret_bytes);
  if (!bytes) {
    return not_a(k_kind,
                 fmt::format("its second line is not base64 of {} bytes", k_minisign_secret_bytes));
  }
  ByteReader reader(bytes->view(), "secret key");
  CLBIN_TRY_ASSIGN(const ByteView algorithm, reader.read_bytes(2, "algorithm"));
  CLBIN_TRY_ASSIGN(const ByteView derivation, reader.read_bytes(2, "key derivation"));
  CLBIN_TRY_ASSIGN(const ByteView checksum, reader.read_bytes(2, "checksum algorithm"));
  const bool is_protected = as_text(derivation) == k_scrypt;
  if (as_text(algorithm) != k_legacy_algorithm || as_text(checksum) != k_checksum ||
      (!is_protected && as_text(derivation) != k_no_derivation)) {
    return not_a(k_kind, "its algorithms are not known");
  }
  SecretKeyFile file;
  file.protection = is_protected ? KeyProtection::passphrase : KeyProtection::none;
  CLBIN_TRY_ASSIGN(const ByteView salt, reader.read_bytes(k_salt_bytes, "salt"));
  file.salt = array_of<k_salt_bytes>(salt);
  CLBIN_TRY_ASSIGN(file.cost.operations, reader.read_u64("operations"));
  CLBIN_TRY_ASSIGN(file.cost.memory_bytes, reader.read_u64("memory"));
  CLBIN_TRY_ASSIGN(const ByteView body, reader.read_bytes(k_protected_bytes, "key"));
  file.body = SecretBytes::copy_of(body);
  return file;
}

// Encrypts, or decrypts, which is the same.
Result<void> apply_passphrase(std::span<std::byte> body, const SecretBytes& passphrase,
                              std::span<const std::byte, k_salt_bytes> salt,
                              const ScryptCost& cost) {
  CLBIN_TRY_ASSIGN(const SecretBytes stream, scrypt(passphrase.view(), salt, cost, body.size()));
  std::transform(body.begin(), body.end(), stream.view().begin(), body.begin(),
                 [](std::byte a, std::byte b) { return a ^ b; });
  return {};
}

// `body` is the key id and the secret key.
Digest checksum_of(ByteView body) {
  return Hasher()
      .add(as_bytes(k_legacy_algorithm))
      .add(body.first(k_id_bytes + k_secret_bytes))
      .finish();
}

} // namespace

KeyTextKind kind_of_key_text(std::string_view text) {
  const std::vector<std::string_view> lines = lines_of_key_text(text);
  const bool is_bare = lines.size() == 1;
  if (lines.empty() || (!is_bare && !lines[0].starts_with(k_untrusted_comment))) {
    return KeyTextKind::unknown;
  }
  for (const KeyShape& shape : k_shapes) {
    const bool has_lines = lines.size() == shape.lines || (is_bare && shape.lines == 2);
    if (!has_lines) {
      continue;
    }
    const auto bytes = from_base64(is_bare ? lines[0] : lines[1], shape.size_bytes);
    if (bytes && as_text(bytes->view()).starts_with(shape.start)) {
      return shape.kind;
    }
  }
  return KeyTextKind::unknown;
}

std::optional<std::string_view> name_of_key_file(std::string_view text) {
  constexpr std::size_t k_max_bytes = 16384; // minisign's comments alone have up to 8192
  const KeyTextKind kind =
      text.size() <= k_max_bytes ? kind_of_key_text(text) : KeyTextKind::unknown;
  if (kind != KeyTextKind::unknown) {
    return to_string(kind);
  }
  return text.starts_with(k_untrusted_comment) ? std::optional("a damaged file of keys")
                                               : std::nullopt;
}

std::string_view to_string(KeyTextKind kind) noexcept {
  constexpr std::array<std::string_view, 7> k_names{
      "not a file of keys",
      "a content key of clbin",
      "the secret key of a recipient",
      "the public key of a recipient",
      "a public key of minisign",
      "a secret key of minisign",
      "a signature of minisign",
  };
  return k_names[static_cast<std::size_t>(kind)];
}

std::string to_text(const ContentKeyId& id) {
  return to_upper_hex(ByteView(id.bytes).first(k_named_bytes));
}

std::string to_text(const RecipientPublicKey& key) {
  return to_upper_hex(ByteView(key.bytes).first(k_named_bytes));
}

Result<std::shared_ptr<const ContentKey>> parse_content_key(std::string_view text) {
  CLBIN_TRY_ASSIGN(const SecretBytes key, decode(text, KeyTextKind::content_key));
  return ContentKey::from_bytes(key.view());
}

Result<RecipientPublicKey> parse_recipient_public_key(std::string_view text) {
  constexpr KeyTextKind k_kind = KeyTextKind::recipient_public_key;
  if (kind_of_key_text(text) == k_kind) {
    CLBIN_TRY(check_lines_of_key(lines_of_key_text(text), k_kind));
  }
  CLBIN_TRY_ASSIGN(const SecretBytes bytes, decode(text, k_kind));
  RecipientPublicKey key;
  std::ranges::copy(bytes.view(), key.bytes.begin());
  if (!is_usable(key)) {
    return fail(ErrorCode::invalid_argument, "{} of small order, which protects nothing",
                to_string(k_kind));
  }
  return key;
}

Result<DecryptionKey> parse_decryption_key(std::string_view text) {
  const KeyTextKind kind = kind_of_key_text(text);
  if (kind == KeyTextKind::content_key) {
    return parse_content_key(text);
  }
  if (kind != KeyTextKind::recipient_secret_key) {
    return not_wanted(kind, "a content key of clbin or the secret key of a recipient");
  }
  CLBIN_TRY_ASSIGN(const SecretBytes key, decode(text, kind));
  return RecipientSecretKey::from_bytes(key.view());
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

std::string to_text(const MinisignKeyId& id) {
  MinisignKeyId reversed = id;
  std::ranges::reverse(reversed);
  return to_upper_hex(reversed);
}

MinisignSecretKey MinisignSecretKey::generate() {
  MinisignSecretKey key{{}, SecretKey::generate()};
  fill_randomly(key.id);
  return key;
}

Result<MinisignPublicKey> parse_minisign_public_key(std::string_view text) {
  constexpr KeyTextKind k_kind = KeyTextKind::minisign_public_key;
  CLBIN_TRY(reject_other_kinds(text, k_kind));
  const std::vector<std::string_view> lines = lines_of_key_text(text);
  const bool has_comment = lines.size() == 2 && lines[0].starts_with(k_untrusted_comment);
  if (!has_comment && lines.size() != 1) {
    return not_a(k_kind, "it is neither a line of base64 nor a comment and such a line");
  }
  CLBIN_TRY(check_lines_of_key(lines, k_kind));
  const std::optional<SecretBytes> bytes = from_base64(lines.back(), k_minisign_public_bytes);
  if (!bytes) {
    return not_a(k_kind, fmt::format("its key is not base64 of {} bytes", k_minisign_public_bytes));
  }
  if (as_text(bytes->view().first(2)) != k_legacy_algorithm) {
    return not_a(k_kind, "its algorithm is not known");
  }
  MinisignPublicKey key;
  key.id = array_of<k_id_bytes>(bytes->view().subspan(2));
  key.key.bytes = array_of<sizeof(PublicKey)>(bytes->view().subspan(2 + k_id_bytes));
  return key;
}

std::string to_base64(const MinisignPublicKey& key) {
  ByteWriter writer;
  writer.write_bytes(as_bytes(k_legacy_algorithm));
  writer.write_bytes(key.id);
  writer.write_bytes(key.key.bytes);
  return to_base64(writer.view());
}

std::string minisign_public_key_file(const MinisignPublicKey& key) {
  return fmt::format("{}minisign public key {}\n{}\n", k_untrusted_comment, to_text(key.id),
                     to_base64(key));
}

Result<KeyProtection> protection_of_minisign_key(std::string_view file) {
  CLBIN_TRY_ASSIGN(const SecretKeyFile fields, decode_secret_key_file(file));
  return fields.protection;
}

Result<MinisignSecretKey> parse_minisign_secret_key(std::string_view file,
                                                    const SecretBytes* passphrase) {
  CLBIN_TRY_ASSIGN(SecretKeyFile fields, decode_secret_key_file(file));
  const ByteView body = fields.body.view();
  if (fields.protection == KeyProtection::passphrase) {
    if (passphrase == nullptr) {
      return fail(ErrorCode::invalid_argument, "the secret key requires a passphrase");
    }
    CLBIN_TRY(apply_passphrase(fields.body.writable(), *passphrase, fields.salt, fields.cost));
    const Digest checksum = checksum_of(body);
    if (sodium_memcmp(checksum.bytes.data(), body.last(sizeof checksum).data(), sizeof checksum) !=
        0) {
      return fail(ErrorCode::invalid_argument, "wrong passphrase for the secret key");
    }
  }
  CLBIN_TRY_ASSIGN(SecretKey key,
                   SecretKey::from_bytes(body.subspan<k_id_bytes, k_secret_bytes>()));
  return MinisignSecretKey{array_of<k_id_bytes>(body), std::move(key)};
}

Result<SecretBytes> minisign_secret_key_file(const MinisignSecretKey& key,
                                             const SecretBytes* passphrase,
                                             const ScryptCost& cost) {
  ByteWriter head; // without secrets
  head.write_bytes(as_bytes(k_legacy_algorithm));
  head.write_bytes(as_bytes(passphrase == nullptr ? k_no_derivation : k_scrypt));
  head.write_bytes(as_bytes(k_checksum));
  std::array<std::byte, k_salt_bytes> salt{};
  if (passphrase != nullptr) {
    fill_randomly(salt);
  }
  head.write_bytes(salt);
  head.write_u64(passphrase == nullptr ? 0 : cost.operations);
  head.write_u64(passphrase == nullptr ? 0 : cost.memory_bytes);

  SecretBytes bytes(k_minisign_secret_bytes);
  std::copy(head.view().begin(), head.view().end(), bytes.writable().begin());
  const std::span<std::byte> body = bytes.writable().subspan(k_secret_key_head_bytes);
  std::copy(key.id.begin(), key.id.end(), body.begin());
  std::copy(key.key.bytes().begin(), key.key.bytes().end(), body.begin() + k_id_bytes);
  if (passphrase != nullptr) {
    const Digest checksum = checksum_of(body);
    std::copy(checksum.bytes.begin(), checksum.bytes.end(),
              body.begin() + k_id_bytes + k_secret_bytes);
    CLBIN_TRY(apply_passphrase(body, *passphrase, salt, cost));
  }
  return file_of(k_secret_comment, bytes);
}

Result<MinisignSignature> parse_minisign_signature(std::string_view file) {
  constexpr KeyTextKind k_kind = KeyTextKind::minisign_signature;
  CLBIN_TRY(reject_other_kinds(file, k_kind));
  const std::vector<std::string_view> lines = lines_of_key_text(file);
  if (lines.size() != 4 || !lines[0].starts_with(k_untrusted_comment) ||
      !lines[2].starts_with(k_trusted)) {
    return not_a(k_kind, "its four lines are not two comments and signatures");
  }
  const std::optional<SecretBytes> first = from_base64(lines[1], k_signature_bytes);
  const std::optional<SecretBytes> second = from_base64(lines[3], sizeof(Signature));
  if (!first || !second) {
    return not_a(k_kind, fmt::format("its lines are not base64 of {} and {} bytes",
                                     k_signature_bytes, sizeof(Signature)));
  }
  const std::string_view algorithm = as_text(first->view().first(2));
  if (algorithm != k_legacy_algorithm && algorithm != k_prehashed_algorithm) {
    return not_a(k_kind, "its algorithm is not known");
  }
  MinisignSignature signature;
  signature.hashing = algorithm == k_legacy_algorithm ? MinisignHashing::legacy //
                                                      : MinisignHashing::prehashed;
  signature.id = array_of<k_id_bytes>(first->view().subspan(2));
  signature.signature.bytes = array_of<sizeof(Signature)>(first->view().subspan(2 + k_id_bytes));
  signature.trusted_comment = lines[2].substr(k_trusted.size());
  signature.global_signature.bytes = array_of<sizeof(Signature)>(second->view());
  return signature;
}

std::string minisign_signature_file(const MinisignSignature& signature) {
  ByteWriter writer;
  const bool is_legacy = signature.hashing == MinisignHashing::legacy;
  writer.write_bytes(as_bytes(is_legacy ? k_legacy_algorithm : k_prehashed_algorithm));
  writer.write_bytes(signature.id);
  writer.write_bytes(signature.signature.bytes);
  return fmt::format("{}{}\n{}\n{}{}\n{}\n", k_untrusted_comment, k_signature_comment,
                     to_base64(writer.view()), k_trusted, signature.trusted_comment,
                     to_base64(signature.global_signature.bytes));
}

Bytes minisign_message(ByteView file, MinisignHashing hashing) {
  if (hashing == MinisignHashing::legacy) {
    return {file.begin(), file.end()};
  }
  start_sodium();
  Bytes hash(crypto_generichash_BYTES_MAX);
  crypto_generichash(sodium_output(hash), hash.size(), sodium_input(file), file.size(), nullptr, 0);
  return hash;
}

Bytes minisign_global_message(const Signature& signature, std::string_view trusted_comment) {
  ByteWriter writer;
  writer.write_bytes(signature.bytes);
  writer.write_bytes(as_bytes(trusted_comment));
  return std::move(writer).take();
}

Result<void> check_trusted_comment(std::string_view text) {
  constexpr std::size_t k_max_bytes = 4096;
  if (text.size() > k_max_bytes || has_control_character(text)) {
    return fail(ErrorCode::invalid_argument,
                "the trusted comment contains a control character or has more than {} bytes",
                k_max_bytes);
  }
  return {};
}

Result<void> check_minisign_signature(const MinisignSignature& signature,
                                      const MinisignPublicKey& key, ByteView message) {
  if (signature.id != key.id) {
    return fail(ErrorCode::untrusted_key, "the signature is by key {}, not by key {}",
                to_text(signature.id), to_text(key.id));
  }
  if (!holds(signature.signature, key.key, minisign_message(message, signature.hashing))) {
    return fail(ErrorCode::bad_signature, "the signature by key {} does not hold", to_text(key.id));
  }
  if (!holds(signature.global_signature, key.key,
             minisign_global_message(signature.signature, signature.trusted_comment))) {
    return fail(ErrorCode::bad_signature,
                "the signature by key {} of the trusted comment does not hold", to_text(key.id));
  }
  return {};
}

} // namespace clbin::base
