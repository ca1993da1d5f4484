#include "trust/signer.hpp"

#include <algorithm>

namespace oclcc::trust {

using clbin::base::ByteView;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;
using clbin::base::Signature;

Result<Signer> Signer::open(const Options& options, Passphrases& passphrases,
                            std::stop_token stop) {
  Signer signer;
  if (options.signing.key) {
    CLBIN_TRY_ASSIGN(clbin::base::MinisignSecretKey key,
                     read_secret_key(*options.signing.key, passphrases));
    signer.m_public_key = {key.key.public_key(), key.id};
    signer.m_key.emplace(std::move(key.key));
    return signer;
  }
  CLBIN_TRY_ASSIGN(signer.m_public_key, read_public_key(options.public_keys.front()));
  CLBIN_TRY_ASSIGN(SignCommand command,
                   SignCommand::create(*options.signing.command,
                                       std::chrono::seconds(options.timeout_seconds),
                                       std::move(stop)));
  signer.m_command.emplace(std::move(command));
  return signer;
}

Result<Signature> Signer::sign(ByteView message) {
  if (m_key) {
    return m_key->sign(message);
  }
  CLBIN_TRY_ASSIGN(const Signature signature, m_command->sign(message));
  if (!clbin::base::holds(signature, m_public_key.key, message)) {
    return fail(ErrorCode::file_read,
                "the command of '--sign-with' wrote bytes that are not a signature of the "
                "message by key {}",
                to_hex(m_public_key.key));
  }
  return signature;
}

StandardInput standard_input_use(const Options& options) {
  const bool is_used = std::any_of(options.inputs.begin(), options.inputs.end(),
                                   [](const Input& input) { return input.path == "-"; });
  return is_used ? StandardInput::is_an_input : StandardInput::free;
}

} // namespace oclcc::trust
