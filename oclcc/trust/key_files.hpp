// The files of keys: minisign's for signatures, those of key_text.hpp for encryption, and the
// passphrases of the former. Errors name the file. No message, argument or environment variable
// contains a key or a passphrase.
#pragma once

#include "base/crypto/key_text.hpp"
#include "command_line/options.hpp"
#include "format/bundle/signatures.hpp"

#include <stop_token>

namespace oclcc::trust {

inline constexpr std::size_t k_max_passphrase_bytes = 1024; // as in minisign

// What else of the run reads standard input.
enum class StandardInput : std::uint8_t { free, is_an_input };

// The passphrases of a run, one a line in a file and on standard input, in the order of the calls.
// Not thread-safe.
class Passphrases {
public:
  // `file` is that of --passphrase-file. If `stop` is requested while the terminal does not echo,
  // the terminal is restored before the callback returns.
  Passphrases(std::optional<std::filesystem::path> file, StandardInput standard_input,
              std::stop_token stop);

  // Returns the next passphrase; `key_file` names its key in the question on the terminal. Errors:
  // file_not_found and file_read, also if there is no passphrase; invalid_argument, if standard
  // input is an input of oclcc.
  [[nodiscard]] Result<base::SecretBytes> next(const std::string& key_file);
  // Whether a passphrase was read, or an attempt made.
  [[nodiscard]] bool was_asked() const noexcept { return m_was_asked; }
  // Returns a passphrase for a new key, which the terminal asks for twice. Errors: also
  // invalid_argument, if both differ, or the passphrase is empty.
  [[nodiscard]] Result<base::SecretBytes> next_for_new_key(const std::string& key_file);

private:
  [[nodiscard]] Result<base::SecretBytes> next_line();
  [[nodiscard]] bool asks_terminal() const;

  std::optional<std::filesystem::path> m_file;
  StandardInput m_standard_input;
  std::stop_token m_stop;
  bool m_was_asked = false;
  base::FileDescriptor m_lines; // the file that is being read, or standard input
};

// Asks for a passphrase on the terminal, which does not echo it, until an answer or a stop.
// file_read: there is no terminal, or no answer.
[[nodiscard]] Result<base::SecretBytes> ask_terminal(const std::string& question,
                                                     const std::stop_token& stop);
// Reads a line, without its end, byte by byte: what follows belongs to the next reader. Returns
// std::nullopt at the end of the file `name`.
[[nodiscard]] Result<std::optional<base::SecretBytes>> read_secret_line(int number,
                                                                        const std::string& name);

// Reads a secret key, after base::protect_memory(), and its passphrase if one protects it. Without
// `passphrases`, nobody is asked for one. Errors: file_not_found; file_read, also if the file is
// not a secret key, the passphrase is wrong, or there is nobody to ask; those of Passphrases.
[[nodiscard]] Result<base::MinisignSecretKey> read_secret_key(const std::filesystem::path& path,
                                                              Passphrases* passphrases);

struct TrustedKey {
  base::PublicKey key;
  std::optional<base::MinisignKeyId> id{}; // 64 hexadecimal digits do not contain one
};

// `text` is the value of --public-key: the base64 line of a public key file, 64 hexadecimal digits,
// or the name of a public key file. Errors: file_not_found; file_read, also if the file is not a
// public key.
[[nodiscard]] Result<TrustedKey> read_public_key(const std::string& text);
[[nodiscard]] Result<std::vector<TrustedKey>>
read_public_keys(const std::vector<std::string>& texts);
// Returns the policy that requires a signature by one of `keys`, and no counter.
[[nodiscard]] format::SignaturePolicy signature_policy(const std::vector<TrustedKey>& keys);

// Read the keys of --encrypt-key and --decrypt-key, after base::protect_memory(). Errors:
// file_not_found; file_read, also if the file is no such key.
[[nodiscard]] Result<std::shared_ptr<const base::ContentKey>>
read_content_key(const std::filesystem::path& path);
[[nodiscard]] Result<base::DecryptionKey> read_decryption_key(const std::filesystem::path& path);
// `text` is the value of --encrypt-for: the base64 line of the file of a public key, or the name of
// such a file. Errors: as above.
[[nodiscard]] Result<base::RecipientPublicKey> read_recipient(const std::string& text);

// Returns the files of the keys and of the passphrase that a run reads, which no output may
// replace. A value of --public-key or --encrypt-for may be a key instead of the name of a file.
[[nodiscard]] std::vector<std::filesystem::path> files_of_keys(const Options& options);

} // namespace oclcc::trust
