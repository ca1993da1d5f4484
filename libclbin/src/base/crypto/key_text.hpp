// The files of keys and signatures: those of the keys that encrypt and decrypt bundles, which
// oclcc-signing(7), "Files of keys", specifies, and those of minisign 0.11
// (https://jedisct1.github.io/minisign/): public keys, secret keys, and signatures.
#pragma once

#include "base/crypto/content_key.hpp"
#include "base/crypto/ed25519.hpp"

#include <variant>

namespace clbin::base {

// What a file of keys contains, so that a message can say it instead of what was wanted.
enum class KeyTextKind : std::uint8_t {
  unknown,
  content_key,
  recipient_secret_key,
  recipient_public_key,
  minisign_public_key,
  minisign_secret_key,
  minisign_signature,
};

// Looks only at the number of lines, their sizes and the first two bytes. Accepts a comment and a
// line of base64, or such a line alone. Safe on untrusted input.
[[nodiscard]] KeyTextKind kind_of_key_text(std::string_view text);
// Returns "a content key of clbin"; "not a file of keys" if the kind is unknown.
[[nodiscard]] std::string_view to_string(KeyTextKind kind) noexcept;

// Returns what a text is that begins as a file of keys, such as "a content key of clbin", or "a
// damaged file of keys" if only its comment can be recognized. Safe on untrusted input.
[[nodiscard]] std::optional<std::string_view> name_of_key_file(std::string_view text);

// ---- Keys that encrypt and decrypt -------------------------------------------------------------

// The parsers accept the two lines of a file, or its second line alone. A line ends with "\n" or
// "\r\n". That of a public key rejects lines that editors can show as several (check_line).
// `text` can be untrusted; the caller overwrites it if it is secret. Errors: invalid_argument. A
// file of another kind gets a message that says what it is and what is wanted. No message contains
// the text.
[[nodiscard]] Result<std::shared_ptr<const ContentKey>> parse_content_key(std::string_view text);
[[nodiscard]] Result<RecipientPublicKey> parse_recipient_public_key(std::string_view text);

// What opens an encrypted bundle.
using DecryptionKey = std::variant<std::shared_ptr<const ContentKey>, RecipientSecretKey>;
// Accepts a content key or the secret key of a recipient.
[[nodiscard]] Result<DecryptionKey> parse_decryption_key(std::string_view text);

// Return the contents of a file.
[[nodiscard]] SecretBytes content_key_file(const ContentKey& key);
[[nodiscard]] SecretBytes recipient_secret_key_file(const RecipientSecretKey& key);
[[nodiscard]] std::string recipient_public_key_file(const RecipientPublicKey& key);
// Returns the second line of the file of a public key, without line end.
[[nodiscard]] std::string to_base64(const RecipientPublicKey& key);

// Return 16 upper-case hexadecimal digits, as in the comments of the files: the first 8 bytes.
[[nodiscard]] std::string to_text(const ContentKeyId& id);
[[nodiscard]] std::string to_text(const RecipientPublicKey& key);

// ---- Keys that sign, and signatures ------------------------------------------------------------

// A random number that names a pair of keys. It proves nothing.
using MinisignKeyId = std::array<std::byte, 8>;
// Returns 16 upper-case hexadecimal digits, as minisign prints a key id.
[[nodiscard]] std::string to_text(const MinisignKeyId& id);

struct MinisignPublicKey {
  MinisignKeyId id{};
  PublicKey key;
  friend bool operator==(const MinisignPublicKey&, const MinisignPublicKey&) = default;
};

struct MinisignSecretKey {
  MinisignKeyId id{};
  SecretKey key;

  [[nodiscard]] static MinisignSecretKey generate();
  [[nodiscard]] MinisignPublicKey public_key() const noexcept { return {id, key.public_key()}; }
};

// Accepts the two lines of a public key file, or its second line alone ("RW…"). A line ends with
// "\n" or "\r\n". Errors: invalid_argument, also if editors can show a line as several lines
// (check_line).
[[nodiscard]] Result<MinisignPublicKey> parse_minisign_public_key(std::string_view text);
// Returns the second line of a public key file, without line end.
[[nodiscard]] std::string to_base64(const MinisignPublicKey& key);
[[nodiscard]] std::string minisign_public_key_file(const MinisignPublicKey& key);

enum class KeyProtection : std::uint8_t { none, passphrase };
// Errors: invalid_argument, if `file` is not a secret key file.
[[nodiscard]] Result<KeyProtection> protection_of_minisign_key(std::string_view file);
// `passphrase` is null if there is none; a key without protection ignores it. Errors:
// invalid_argument (not a secret key file, a passphrase that is required or wrong, or a cost above
// the limits of scrypt), out_of_memory.
[[nodiscard]] Result<MinisignSecretKey> parse_minisign_secret_key(std::string_view file,
                                                                  const SecretBytes* passphrase);
// Returns the contents of a secret key file. If `passphrase` is null, the key is not protected, as
// minisign -W writes it.
[[nodiscard]] Result<SecretBytes> minisign_secret_key_file(const MinisignSecretKey& key,
                                                           const SecretBytes* passphrase,
                                                           const ScryptCost& cost);

// What the signature of a file is made of: its bytes (minisign -l), or their BLAKE2b-512.
enum class MinisignHashing : std::uint8_t { legacy, prehashed };

struct MinisignSignature {
  MinisignHashing hashing = MinisignHashing::prehashed;
  MinisignKeyId id{};
  Signature signature;
  std::string trusted_comment;
  Signature global_signature; // of the signature and the trusted comment
};

// Errors: invalid_argument.
[[nodiscard]] Result<MinisignSignature> parse_minisign_signature(std::string_view file);
[[nodiscard]] std::string minisign_signature_file(const MinisignSignature& signature);

// Return what the two signatures of a file sign, for a signer that does not show its key.
[[nodiscard]] Bytes minisign_message(ByteView file, MinisignHashing hashing);
[[nodiscard]] Bytes minisign_global_message(const Signature& signature,
                                            std::string_view trusted_comment);
// Errors: invalid_argument, if a trusted comment contains a control character other than a tab, or
// has more than 4096 bytes.
[[nodiscard]] Result<void> check_trusted_comment(std::string_view text);

// Checks both signatures. Errors: untrusted_key, if another key made them; bad_signature.
[[nodiscard]] Result<void> check_minisign_signature(const MinisignSignature& signature,
                                                    const MinisignPublicKey& key, ByteView message);

} // namespace clbin::base
