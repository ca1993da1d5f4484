// The files of keys: minisign's for signatures, and those of key_text.hpp for encryption. Errors
// name the file and do not contain the key.
#pragma once

#include "base/crypto/key_text.hpp"
#include "base/crypto/minisign.hpp"
#include "command_line/options.hpp"
#include "format/bundle/signatures.hpp"
#include "trust/passphrase.hpp"

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace oclcc::trust {

// From now on, no core dump contains the memory of this process, and other processes of the user
// can neither read nor trace it.
void protect_this_process() noexcept;

// Reads a secret key, after protect_this_process(), and its passphrase if one protects it. Errors:
// file_not_found; file_read, also if the file is not a secret key or the passphrase is wrong; those
// of Passphrases.
[[nodiscard]] clbin::base::Result<clbin::base::MinisignSecretKey>
read_secret_key(const std::filesystem::path& path, Passphrases& passphrases);

// Returns a secret key without a passphrase, for a key that is used while nobody watches. Errors:
// file_not_found; file_read, also if a passphrase protects the key, which nobody is asked for.
[[nodiscard]] clbin::base::Result<clbin::base::MinisignSecretKey>
read_open_secret_key(const std::filesystem::path& path);

// Returns a warning if others than the owner of a secret file have rights to it.
[[nodiscard]] std::optional<std::string> warning_of_readers(const std::filesystem::path& path);

struct TrustedKey {
  clbin::base::PublicKey key;
  std::optional<clbin::base::MinisignKeyId> id{}; // 64 hexadecimal digits do not contain one
};

// `text` is the value of --public-key: the base64 line of a public key file, 64 hexadecimal digits,
// or the name of a public key file. Errors: file_not_found; file_read, also if the file is not a
// public key.
[[nodiscard]] clbin::base::Result<TrustedKey> read_public_key(const std::string& text);
[[nodiscard]] clbin::base::Result<std::vector<TrustedKey>>
read_public_keys(const std::vector<std::string>& texts);
// Returns the policy that requires a signature by one of `keys`, and no counter.
[[nodiscard]] clbin::format::SignaturePolicy signature_policy(const std::vector<TrustedKey>& keys);

// Read the keys of --encrypt-key and --decrypt-key, after protect_this_process(). Errors:
// file_not_found; file_read, also if the file is no such key.
[[nodiscard]] clbin::base::Result<std::shared_ptr<const clbin::base::ContentKey>>
read_content_key(const std::filesystem::path& path);
[[nodiscard]] clbin::base::Result<clbin::base::DecryptionKey>
read_decryption_key(const std::filesystem::path& path);
// `text` is the value of --encrypt-for: the base64 line of the file of a public key, or the name of
// such a file. Errors: as above.
[[nodiscard]] clbin::base::Result<clbin::base::RecipientPublicKey>
read_recipient(const std::string& text);

// Returns the files of the keys and of the passphrase that a run reads, which no output may
// replace. A value of --public-key or --encrypt-for may be a key instead of the name of a file.
[[nodiscard]] std::vector<std::filesystem::path> files_of_keys(const Options& options);

// The files of --keygen NAME.
struct KeyPairFiles {
  std::filesystem::path secret_key;
  std::filesystem::path public_key;
};
[[nodiscard]] KeyPairFiles key_pair_files(const std::filesystem::path& name);
// file_write: one of the files exists.
[[nodiscard]] clbin::base::Result<void>
require_no_file(std::initializer_list<std::filesystem::path> files);
// Write both files or none. The secret key has mode 0600. file_write: a file cannot be written, or
// exists.
[[nodiscard]] clbin::base::Result<void> write_key_pair(const KeyPairFiles& files,
                                                       const clbin::base::MinisignSecretKey& key,
                                                       const clbin::base::SecretBytes* passphrase);
[[nodiscard]] clbin::base::Result<void> write_key_pair(const KeyPairFiles& files,
                                                       const clbin::base::RecipientSecretKey& key);
// Writes a content key, of which there is no public part. Errors: as above.
[[nodiscard]] clbin::base::Result<void> write_content_key(const std::filesystem::path& path,
                                                          const clbin::base::ContentKey& key);

} // namespace oclcc::trust
