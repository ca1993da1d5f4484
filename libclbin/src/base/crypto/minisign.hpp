// The files of minisign 0.11: public keys, secret keys, and signatures.
// https://jedisct1.github.io/minisign/ specifies them.
#pragma once

#include "base/crypto/ed25519.hpp"
#include "base/crypto/key_derivation.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace clbin::base {

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
// Returns the contents of a public key file.
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
// Returns the contents of a signature file.
[[nodiscard]] std::string minisign_signature_file(const MinisignSignature& signature);

// Return what the two signatures of a file sign, for a signer that does not show its key.
[[nodiscard]] Bytes minisign_message(ByteView file, MinisignHashing hashing);
[[nodiscard]] Bytes minisign_global_message(const Signature& signature,
                                            std::string_view trusted_comment);
// Errors: invalid_argument, if a trusted comment contains a control character other than a tab, or
// has more than 4096 bytes.
[[nodiscard]] Result<void> check_trusted_comment(std::string_view text);

// Errors: as check_trusted_comment.
[[nodiscard]] Result<MinisignSignature> sign_as_minisign(const MinisignSecretKey& key,
                                                         ByteView message, MinisignHashing hashing,
                                                         std::string_view trusted_comment);
// Checks both signatures. Errors: untrusted_key, if another key made them; bad_signature.
[[nodiscard]] Result<void> check_minisign_signature(const MinisignSignature& signature,
                                                    const MinisignPublicKey& key, ByteView message);

} // namespace clbin::base
