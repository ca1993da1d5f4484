#include "trust/key_files.hpp"

#include "base/system/files.hpp"
#include "base/system/process.hpp"

namespace oclcc::trust {

using base::ContentKey;
using base::DecryptionKey;
using base::in_quotes;
using base::MinisignSecretKey;
using base::RecipientPublicKey;
using base::SecretBytes;

// --- Passphrases --------------------------------------------------------------------------------

Result<std::optional<SecretBytes>> read_secret_line(int number, const std::string& name) {
  SecretBytes line(k_max_passphrase_bytes + 1);
  SecretBytes next(1);
  std::size_t size = 0;
  for (;;) {
    const auto count = base::read_some(number, next.writable());
    if (!count) {
      return base::read_error(name, count.error());
    }
    if (*count == 0 && size == 0) {
      return std::nullopt;
    }
    if (*count == 0 || next.view()[0] == std::byte{'\n'}) {
      break;
    }
    if (next.view()[0] == std::byte{0}) {
      return fail(ErrorCode::file_read, "a passphrase in {} contains a NUL byte", name);
    }
    if (size > k_max_passphrase_bytes) {
      return fail(ErrorCode::file_read, "a passphrase in {} has more than {} bytes", name,
                  k_max_passphrase_bytes);
    }
    line.writable()[size++] = next.view()[0];
  }
  if (size != 0 && line.view()[size - 1] == std::byte{'\r'}) {
    --size;
  }
  line.shorten(size);
  return line;
}

Passphrases::Passphrases(std::optional<std::filesystem::path> file, StandardInput standard_input,
                         std::stop_token stop)
    : m_file(std::move(file)), m_standard_input(standard_input), m_stop(std::move(stop)) {}

bool Passphrases::asks_terminal() const {
  return !m_file && base::is_terminal(base::k_standard_input);
}

Result<SecretBytes> Passphrases::next_line() {
  const std::string name = m_file ? in_quotes(*m_file) : "standard input";
  if (!m_file && m_standard_input == StandardInput::is_an_input) {
    return refused("standard input contains a file and cannot contain a passphrase: use "
                   "'--passphrase-file'");
  }
  if (!m_lines.is_open()) {
    auto opened = m_file ? base::open_to_read(*m_file, base::MissingWriter::is_awaited)
                         : FileDescriptor(base::k_standard_input, base::CloseAtEnd::no);
    if (!opened) {
      return base::open_error(name, opened.error());
    }
    m_lines = *std::move(opened);
  }
  CLBIN_TRY_ASSIGN(auto line, read_secret_line(m_lines.number(), name));
  if (!line) {
    return fail(ErrorCode::file_read, "{} does not contain a passphrase{}", name,
                m_file ? "" : ": use a terminal or '--passphrase-file'");
  }
  return std::move(*line);
}

Result<SecretBytes> Passphrases::next(const std::string& key_file) {
  m_was_asked = true;
  return asks_terminal() ? ask_terminal(fmt::format("Passphrase of {}: ", key_file), m_stop)
                         : next_line();
}

Result<SecretBytes> Passphrases::next_for_new_key(const std::string& key_file) {
  const bool asks = asks_terminal();
  auto passphrase =
      asks ? ask_terminal(fmt::format("New passphrase of {}: ", key_file), m_stop) : next_line();
  if (!passphrase) {
    return passphrase;
  }
  if (passphrase->size() == 0) {
    return refused("the passphrase is empty: use '--no-passphrase' for a key without one");
  }
  if (asks) {
    CLBIN_TRY_ASSIGN(const SecretBytes again, ask_terminal("Again: ", m_stop));
    if (!std::ranges::equal(passphrase->view(), again.view())) {
      return refused("the passphrases differ");
    }
  }
  return passphrase;
}

// --- Keys ---------------------------------------------------------------------------------------

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
  const auto file = base::open_to_read(path, base::MissingWriter::is_awaited);
  if (!file) {
    return base::open_error(in_quotes(path), file.error());
  }
  SecretBytes bytes(k_max_key_file_bytes + 1);
  std::size_t size = 0;
  while (size < bytes.size()) {
    const auto count = base::read_some(file->number(), bytes.writable().subspan(size));
    if (!count) {
      return base::read_error(in_quotes(path), count.error());
    }
    if (*count == 0) {
      bytes.shorten(size);
      return bytes;
    }
    size += *count;
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

Result<MinisignSecretKey> read_secret_key(const std::filesystem::path& path,
                                          Passphrases* passphrases) {
  base::protect_memory();
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
  base::protect_memory();
  return read_key(path, base::parse_content_key);
}

Result<DecryptionKey> read_decryption_key(const std::filesystem::path& path) {
  base::protect_memory();
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
