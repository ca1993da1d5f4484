// The files of keys: minisign's. Errors name the file and do not contain the key.
#pragma once

#include "base/crypto/minisign.hpp"
#include "trust/passphrase.hpp"

#include <filesystem>
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

// The files of --keygen NAME.
struct KeyPairFiles {
  std::filesystem::path secret_key;
  std::filesystem::path public_key;
};
[[nodiscard]] KeyPairFiles key_pair_files(const std::filesystem::path& name);
// file_write: one of the files exists.
[[nodiscard]] clbin::base::Result<void> require_no_file(const KeyPairFiles& files);
// Writes both files or none. The secret key has mode 0600. file_write: a file cannot be written, or
// exists.
[[nodiscard]] clbin::base::Result<void> write_key_pair(const KeyPairFiles& files,
                                                       const clbin::base::MinisignSecretKey& key,
                                                       const clbin::base::SecretBytes* passphrase);

} // namespace oclcc::trust
