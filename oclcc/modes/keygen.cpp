#include "command_line/modes.hpp"

#include "base/system/process.hpp"
#include "trust/key_files.hpp"
#include "worker/worker_process.hpp"

#include <cerrno>

namespace oclcc {

using base::in_quotes;
using base::SecretBytes;

namespace {

// file_write: the file exists.
Result<void> require_no_file(const std::filesystem::path& path) {
  std::error_code ignored; // a dangling link exists, too
  return !std::filesystem::exists(std::filesystem::symlink_status(path, ignored))
             ? Result<void>()
             : base::write_error(in_quotes(path), EEXIST);
}

// Creates the file, and removes it if it cannot be written. file_write, also if it exists.
Result<void> write_new_file(const std::filesystem::path& path, base::ByteView bytes,
                            base::FileUsers users) {
  auto file = base::create_file(path, users);
  if (!file) {
    return base::write_error(in_quotes(path), file.error());
  }
  int error = base::write_all(file->number(), bytes);
  error = error == 0 ? base::flush(file->number()) : error;
  if (const int close_error = file->close(); error == 0) {
    error = close_error;
  }
  if (error == 0) {
    return {};
  }
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return base::write_error(in_quotes(path), error);
}

// Writes both files or none.
Result<void> write_pair(const std::filesystem::path& secret_file, const SecretBytes& secret,
                        const std::filesystem::path& public_file, const std::string& open) {
  CLBIN_TRY(write_new_file(secret_file, secret.view(), base::FileUsers::owner));
  auto written = write_new_file(public_file, base::as_bytes(open), base::FileUsers::usual);
  if (!written) {
    std::error_code ignored;
    std::filesystem::remove(secret_file, ignored);
  }
  return written;
}

Result<void> make_keys(const Options& options, std::stop_token stop) {
  const std::filesystem::path secret_file = options.key_pair->string() + ".key";
  const std::filesystem::path public_file = options.key_pair->string() + ".pub";
  base::protect_memory();
  if (options.key_type == KeyType::content) { // of which there is no public part
    return write_new_file(secret_file, base::content_key_file(*base::ContentKey::generate()).view(),
                          base::FileUsers::owner);
  }
  CLBIN_TRY(require_no_file(secret_file)); // before the question
  CLBIN_TRY(require_no_file(public_file));
  if (options.key_type == KeyType::recipient) {
    const auto key = base::RecipientSecretKey::generate();
    return write_pair(secret_file, base::recipient_secret_key_file(key), public_file,
                      base::recipient_public_key_file(key.public_key()));
  }
  std::optional<SecretBytes> passphrase;
  if (options.passphrase_policy == PassphrasePolicy::ask) {
    trust::Passphrases passphrases(options.signing.passphrase_file, trust::StandardInput::free,
                                   std::move(stop));
    CLBIN_TRY_ASSIGN(passphrase, passphrases.next_for_new_key(secret_file.string()));
  }
  const auto key = base::MinisignSecretKey::generate();
  CLBIN_TRY_ASSIGN(const SecretBytes secret,
                   base::minisign_secret_key_file(key, passphrase ? &*passphrase : nullptr,
                                                  base::k_sensitive_cost));
  return write_pair(secret_file, secret, public_file,
                    base::minisign_public_key_file(key.public_key()));
}

} // namespace

Result<ExitCode> keygen(const Options& options, const ModeContext& context) {
  CLBIN_TRY(make_keys(options, context.workers.stop));
  return ExitCode::success;
}

} // namespace oclcc
