// Signs with a secret key or a command.
#pragma once

#include "command_line/options.hpp"
#include "trust/key_files.hpp"
#include "trust/sign_command.hpp"

#include <filesystem>
#include <memory>
#include <stop_token>
#include <vector>

namespace oclcc::trust {

// Not thread-safe.
class Signer {
public:
  // Reads the key of `options`, or the public key of its command. options.signing.is_requested()
  // must be true. Call it before other threads start. Errors: those of read_secret_key,
  // read_public_key and SignCommand::create.
  [[nodiscard]] static clbin::base::Result<Signer>
  open(const Options& options, Passphrases& passphrases, std::stop_token stop);

  [[nodiscard]] const TrustedKey& public_key() const noexcept { return m_public_key; }
  // Returns a signature that holds. file_read: the command fails, or its answer is not a signature
  // of `message` by the public key.
  [[nodiscard]] clbin::base::Result<clbin::base::Signature> sign(clbin::base::ByteView message);

private:
  TrustedKey m_public_key;
  std::optional<clbin::base::SecretKey> m_key; // otherwise, the command signs
  std::optional<SignCommand> m_command;
};

// Returns whether standard input is one of the inputs, and cannot contain a passphrase.
[[nodiscard]] StandardInput standard_input_use(const Options& options);

} // namespace oclcc::trust
