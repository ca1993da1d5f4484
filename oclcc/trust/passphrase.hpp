// Reads passphrases: from a file, from the terminal without echo, or from standard input. No
// message, argument or environment variable contains one.
#pragma once

#include "base/crypto/secret_bytes.hpp"
#include "base/file_io.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

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
  [[nodiscard]] clbin::base::Result<clbin::base::SecretBytes> next(const std::string& key_file);
  // Whether a passphrase was read, or an attempt made.
  [[nodiscard]] bool was_asked() const noexcept { return m_was_asked; }
  // Returns a passphrase for a new key, which the terminal asks for twice. Errors: also
  // invalid_argument, if both differ, or the passphrase is empty.
  [[nodiscard]] clbin::base::Result<clbin::base::SecretBytes>
  next_for_new_key(const std::string& key_file);

private:
  [[nodiscard]] clbin::base::Result<clbin::base::SecretBytes> next_line();
  [[nodiscard]] clbin::base::Result<clbin::base::SecretBytes>
  ask_terminal(const std::string& question) const;
  [[nodiscard]] bool asks_terminal() const;

  std::optional<std::filesystem::path> m_file;
  StandardInput m_standard_input;
  std::stop_token m_stop;
  bool m_was_asked = false;
  clbin::base::FileDescriptor m_lines; // the file that is being read, or standard input
};

} // namespace oclcc::trust
