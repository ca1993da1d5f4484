#include "command_line/modes.hpp"

#include "trust/key_files.hpp"
#include "worker/worker_process.hpp"

namespace oclcc {

using base::SecretBytes;

namespace {

Result<void> make_signing_keys(const Options& options, const trust::KeyPairFiles& files,
                               std::stop_token stop) {
  CLBIN_TRY(trust::require_no_file({files.secret_key, files.public_key})); // before the question
  std::optional<SecretBytes> passphrase;
  if (options.passphrase_policy == PassphrasePolicy::ask) {
    trust::Passphrases passphrases(options.signing.passphrase_file, trust::StandardInput::free,
                                   std::move(stop));
    CLBIN_TRY_ASSIGN(passphrase, passphrases.next_for_new_key(files.secret_key.string()));
  }
  const auto key = base::MinisignSecretKey::generate();
  return trust::write_key_pair(files, key, passphrase ? &*passphrase : nullptr);
}

Result<void> make_keys(const Options& options, std::stop_token stop) {
  const trust::KeyPairFiles files = trust::key_pair_files(*options.key_pair);
  trust::protect_this_process();
  switch (options.key_type) {
  case KeyType::content:
    return trust::write_content_key(files.secret_key, *base::ContentKey::generate());
  case KeyType::recipient:
    CLBIN_TRY(trust::require_no_file({files.secret_key, files.public_key}));
    return trust::write_key_pair(files, base::RecipientSecretKey::generate());
  case KeyType::signing:
    break;
  }
  return make_signing_keys(options, files, std::move(stop));
}

} // namespace

Result<ExitCode> keygen(const Options& options, const ModeContext& context) {
  CLBIN_TRY(make_keys(options, context.workers.stop));
  return ExitCode::success;
}

} // namespace oclcc
