#include "trust/key_files.hpp"

#include "base/digest.hpp"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace oclcc::trust {

using base::ContentKey;
using base::DecryptionKey;
using base::FileDescriptor;
using base::in_quotes;
using base::MinisignSecretKey;
using base::RecipientPublicKey;
using base::SecretBytes;

namespace {

constexpr std::size_t k_max_key_file_bytes = 4096; // minisign's comments have at most 1024

// Names the file. Contents that are not a key are an error of the file, not of the command line.
tl::unexpected<Error> key_file_error(Error error, const std::filesystem::path& path) {
  const ErrorCode code =
      error.code == ErrorCode::invalid_argument ? ErrorCode::file_read : error.code;
  return fail(code, "{}: {}", in_quotes(path), error.message);
}

// Not read_whole_file, which does not overwrite its memory.
Result<SecretBytes> read_key_file(const std::filesystem::path& path) {
  const FileDescriptor file(base::open_retrying(path.c_str(), O_RDONLY));
  if (!file.is_open()) {
    return base::open_error(in_quotes(path), errno);
  }
  SecretBytes bytes(k_max_key_file_bytes + 1);
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t count =
        ::read(file.number(), bytes.writable().data() + size, bytes.size() - size);
    if (count == 0) {
      bytes.shorten(size);
      return bytes;
    }
    if (count > 0) {
      size += static_cast<std::size_t>(count);
    } else if (!base::should_retry(file.number(), POLLIN)) {
      return base::read_error(in_quotes(path), errno);
    }
  }
  return fail(ErrorCode::file_read, "{}: not a file of keys: it has more than {} bytes",
              in_quotes(path), k_max_key_file_bytes);
}

// Reads a file and the key in it.
template <typename Key>
Result<Key> read_key(const std::filesystem::path& path, Result<Key> (*parse)(std::string_view)) {
  CLBIN_TRY_ASSIGN(const SecretBytes file, read_key_file(path));
  auto key = parse(base::as_text(file.view()));
  if (!key) {
    return key_file_error(key.error(), path);
  }
  return key;
}

} // namespace

void protect_this_process() noexcept {
  constexpr rlimit k_no_core_dump{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &k_no_core_dump);
  (void)::prctl(PR_SET_DUMPABLE, 0); // also for core dumps that the system passes to a program
}

Result<MinisignSecretKey> read_secret_key(const std::filesystem::path& path,
                                          Passphrases* passphrases) {
  protect_this_process();
  CLBIN_TRY_ASSIGN(const SecretBytes file, read_key_file(path));
  const std::string_view text = base::as_text(file.view());
  const auto protection = base::protection_of_minisign_key(text);
  if (!protection) {
    return key_file_error(protection.error(), path);
  }
  std::optional<SecretBytes> passphrase;
  if (*protection == base::KeyProtection::passphrase) {
    if (passphrases == nullptr) {
      return fail(ErrorCode::file_read,
                  "{}: a passphrase protects this key, and nobody is asked for it here",
                  in_quotes(path));
    }
    CLBIN_TRY_ASSIGN(passphrase, passphrases->next(path.string()));
  }
  auto key = base::parse_minisign_secret_key(text, passphrase ? &*passphrase : nullptr);
  if (!key) {
    return key_file_error(key.error(), path);
  }
  return key;
}

Result<TrustedKey> read_public_key(const std::string& text) {
  if (const auto key = base::parse_minisign_public_key(text)) {
    return TrustedKey{key->key, key->id};
  }
  if (const auto digits = base::digest_from_hex(text)) {
    return TrustedKey{{digits->bytes}, std::nullopt};
  }
  CLBIN_TRY_ASSIGN(const auto key, read_key(text, base::parse_minisign_public_key));
  return TrustedKey{key.key, key.id};
}

Result<std::vector<TrustedKey>> read_public_keys(const std::vector<std::string>& texts) {
  std::vector<TrustedKey> keys;
  for (const std::string& text : texts) {
    CLBIN_TRY_ASSIGN(const TrustedKey key, read_public_key(text));
    keys.push_back(key);
  }
  return keys;
}

format::SignaturePolicy signature_policy(const std::vector<TrustedKey>& keys) {
  format::SignaturePolicy policy;
  for (const TrustedKey& key : keys) {
    policy.keys.push_back(key.key);
  }
  return policy;
}

Result<std::shared_ptr<const ContentKey>> read_content_key(const std::filesystem::path& path) {
  protect_this_process();
  return read_key(path, base::parse_content_key);
}

Result<DecryptionKey> read_decryption_key(const std::filesystem::path& path) {
  protect_this_process();
  return read_key(path, base::parse_decryption_key);
}

Result<RecipientPublicKey> read_recipient(const std::string& text) {
  using base::KeyTextKind;
  const auto key = base::parse_recipient_public_key(text);
  if (!key && base::kind_of_key_text(text) != KeyTextKind::unknown) {
    return base::add_context(key.error(), "--encrypt-for");
  }
  return key ? key : read_key(text, base::parse_recipient_public_key);
}

std::vector<std::filesystem::path> files_of_keys(const Options& options) {
  std::vector<std::filesystem::path> files(options.public_keys.begin(), options.public_keys.end());
  const auto& recipients = options.encryption.recipients;
  files.insert(files.end(), recipients.begin(), recipients.end());
  files.insert(files.end(), options.decrypt_keys.begin(), options.decrypt_keys.end());
  const SigningOptions& signing = options.signing;
  for (const auto& file :
       {signing.key, signing.vouching_key, signing.passphrase_file, options.encryption.key}) {
    if (file) {
      files.push_back(*file);
    }
  }
  return files;
}

} // namespace oclcc::trust
