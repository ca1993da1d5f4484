#include "trust/bundle_signing.hpp"

#include "base/system/folder.hpp"
#include "base/text.hpp"
#include "format/bundle/bundle_tables.hpp"
#include "worker/worker_home.hpp"

#include <cstdlib>
#include <ctime>

namespace oclcc::trust {

using base::MinisignHashing;
using base::MinisignSignature;
using base::Signature;
using format::TrailingRecord;

namespace {

constexpr std::uint64_t k_max_signature_file_bytes = 16384;

// In seconds since 1970. invalid_argument: SOURCE_DATE_EPOCH is not a number.
Result<std::uint64_t> timestamp() {
  const char* const variable = std::getenv("SOURCE_DATE_EPOCH");
  const std::string_view text = variable == nullptr ? "" : variable;
  if (text.empty()) {
    return static_cast<std::uint64_t>(std::time(nullptr));
  }
  const auto seconds = base::parse_number<std::uint64_t>(text);
  return seconds ? Result<std::uint64_t>(*seconds)
                 : refused("SOURCE_DATE_EPOCH is '{}', which is not a number of seconds", text);
}

Signature signature_of(ByteView bytes) {
  Signature signature;
  std::copy(bytes.begin(), bytes.end(), signature.bytes.begin());
  return signature;
}

Result<Signature> read_signature(ByteView answer) {
  if (answer.size() == sizeof(Signature::bytes)) {
    return signature_of(answer);
  }
  const std::string_view text = base::as_text(answer);
  if (const auto words = base::words_between_spaces(text); words.size() == 1) {
    if (const auto bytes = base::from_base64(words.front(), sizeof(Signature::bytes))) {
      return signature_of(bytes->view());
    }
  }
  if (const auto file = base::parse_minisign_signature(text)) {
    if (file->hashing == base::MinisignHashing::prehashed) {
      return fail(ErrorCode::file_read,
                  "{} signed a digest of the bytes: use 'minisign -S -l', which signs the bytes",
                  k_sign_command);
    }
    return file->signature;
  }
  return fail(ErrorCode::file_read,
              "{} wrote {} bytes, which are not a signature: 64 bytes, 88 base64 digits, or a "
              "signature file of minisign",
              k_sign_command, answer.size());
}

// Returns the answer of the command, if it is a signature by `key`.
Result<Signature> signature_by_command(const std::string& command, worker::WorkerHome& home,
                                       std::chrono::seconds limit, ByteView message,
                                       const base::PublicKey& key) {
  CLBIN_TRY_ASSIGN(const Bytes answer, answer_of_command(command, home, limit, message));
  CLBIN_TRY_ASSIGN(const Signature signature, read_signature(answer));
  if (!base::holds(signature, key, message)) {
    return fail(ErrorCode::file_read,
                "{} wrote bytes that are not a signature of the message by key {}", k_sign_command,
                to_hex(key));
  }
  return signature;
}

} // namespace

Result<BundleSigner> BundleSigner::open(const Options& options, std::stop_token stop,
                                        Reporter& reporter) {
  const SigningOptions& signing = options.signing;
  const bool is_input =
      std::ranges::find(options.inputs, "-", &Input::path) != options.inputs.end();
  Passphrases passphrases(signing.passphrase_file,
                          is_input ? StandardInput::is_an_input : StandardInput::free, stop);
  BundleSigner result;
  if (signing.key) {
    CLBIN_TRY_ASSIGN(base::MinisignSecretKey read, read_secret_key(*signing.key, &passphrases));
    const auto key = std::make_shared<base::SecretKey>(std::move(read.key));
    result.m_key = {key->public_key(), read.id};
    result.m_sign_message = [key](ByteView message) -> Result<Signature> {
      return key->sign(message);
    };
  } else {
    CLBIN_TRY_ASSIGN(result.m_key, read_public_key(options.public_keys.front()));
    CLBIN_TRY_ASSIGN(const auto home, worker::WorkerHome::create(std::move(stop)));
    result.m_sign_message = [home, key = result.m_key.key, command = *signing.command,
                             limit =
                                 std::chrono::seconds(options.timeout_seconds)](ByteView message) {
      return signature_by_command(command, *home, limit, message, key);
    };
  }
  result.m_counter = signing.counter;
  if (signing.vouching_key) {
    CLBIN_TRY_ASSIGN(const auto old_key, read_secret_key(*signing.vouching_key, &passphrases));
    if (old_key.key.public_key() == result.m_key.key) {
      return refused("'--vouched-by {}' is the key that signs", signing.vouching_key->string());
    }
    result.m_vouch = format::vouch_for(result.m_key.key, old_key.key);
  }
  if (signing.passphrase_file && !passphrases.was_asked()) {
    return refused("'--passphrase-file' is given, but no key has a passphrase");
  }
  for (const auto& file : {signing.key, signing.vouching_key}) {
    if (const auto warning = file ? base::warning_of_readers(*file) : std::nullopt) {
      reporter.warning(*warning);
    }
  }
  return result;
}

Result<SignedBundle> BundleSigner::sign(ByteView bundle) {
  CLBIN_TRY_ASSIGN(RootAndRecords read, read_root_and_records(bundle));
  const base::PublicKey key = m_key.key;
  std::optional<std::uint64_t> replaced_counter;
  for (const TrailingRecord& record : read.records) {
    const auto before = format::read_signed<format::CounterRecord>(record);
    if (before && writes_like(record) && before->counter > *m_counter) {
      replaced_counter = before->counter;
    }
  }
  CLBIN_TRY_ASSIGN(const auto signature, m_sign_message(format::signature_message(read.root)));
  format::put_record(read.records,
                     format::to_trailing_record(format::SignatureRecord{key, signature}));
  if (m_counter) {
    CLBIN_TRY_ASSIGN(const auto counter_signature,
                     m_sign_message(format::counter_message(read.root, *m_counter)));
    format::put_record(read.records, format::to_trailing_record(format::CounterRecord{
                                         key, *m_counter, counter_signature}));
  }
  if (m_vouch) {
    format::put_record(read.records, format::to_trailing_record(*m_vouch));
  }
  // oclcc does not sign beside a record that does not hold.
  if (auto all_hold = format::check_every_signature(read.root, read.records); !all_hold) {
    const bool is_known = all_hold.error().code == ErrorCode::bad_signature;
    all_hold.error().message += is_known ? "; '--strip-signature' removes it" : "";
    return tl::unexpected(std::move(all_hold.error()));
  }
  auto result = format::with_trailing_records(bundle, std::move(read.records));
  if (!result && result.error().code == ErrorCode::invalid_argument) {
    result.error().code = ErrorCode::limit_exceeded; // of the bundle, not of the command line
  }
  CLBIN_TRY_ASSIGN(Bytes bytes, std::move(result));
  return SignedBundle{std::move(bytes), replaced_counter};
}

bool BundleSigner::writes_like(const TrailingRecord& record) const {
  const base::PublicKey& key = m_key.key;
  if (const auto signature = format::read_signed<format::SignatureRecord>(record)) {
    return signature->key == key;
  }
  if (const auto counter = format::read_signed<format::CounterRecord>(record)) {
    return m_counter && counter->key == key;
  }
  const auto read = format::read_signed<format::VouchRecord>(record);
  return m_vouch && read && read->old_key == m_vouch->old_key && read->new_key == m_vouch->new_key;
}

Result<std::string> BundleSigner::sign_detached(ByteView file, const std::filesystem::path& name) {
  if (!m_key.id) {
    return refused("'--detached' needs the id of the key: use a public key of minisign instead of "
                   "hexadecimal digits");
  }
  CLBIN_TRY_ASSIGN(const std::uint64_t seconds, timestamp());
  MinisignSignature signature;
  signature.id = *m_key.id;
  signature.trusted_comment =
      fmt::format("timestamp:{}\tfile:{}\thashed", seconds, name.filename().string());
  CLBIN_TRY(base::check_trusted_comment(signature.trusted_comment));
  CLBIN_TRY_ASSIGN(signature.signature,
                   m_sign_message(base::minisign_message(file, MinisignHashing::prehashed)));
  CLBIN_TRY_ASSIGN(signature.global_signature,
                   m_sign_message(base::minisign_global_message(signature.signature,
                                                                signature.trusted_comment)));
  return base::minisign_signature_file(signature);
}

bool is_document(ByteView start) noexcept {
  return base::as_text(start).starts_with('{');
}

std::filesystem::path detached_name(const std::filesystem::path& file) {
  return file.string() + ".minisig";
}

Result<void> check_detached(ByteView file, const std::filesystem::path& signature_file,
                            const std::vector<TrustedKey>& keys) {
  const auto text = base::read_whole_file(signature_file, k_max_signature_file_bytes);
  if (!text) {
    const bool is_missing = text.error().code == ErrorCode::file_not_found;
    return fail(is_missing ? ErrorCode::not_signed : text.error().code, "{}", text.error().message);
  }
  const auto signature = base::parse_minisign_signature(base::as_text(*text));
  if (!signature) {
    return fail(ErrorCode::bad_signature, "'{}': {}", signature_file.string(),
                signature.error().message);
  }
  for (const TrustedKey& key : keys) {
    if (key.id && *key.id != signature->id) {
      continue;
    }
    const auto checked = base::check_minisign_signature(*signature, {signature->id, key.key}, file);
    if (checked || key.id) {
      return checked ? Result<void>()
                     : fail(checked.error().code, "'{}': {}", signature_file.string(),
                            checked.error().message);
    }
  }
  return fail(ErrorCode::untrusted_key, "'{}': no key of '--public-key' made it: it is by key {}",
              signature_file.string(), base::to_text(signature->id));
}

Result<RootAndRecords> read_root_and_records(ByteView bundle) {
  const auto source = base::memory_source(bundle);
  CLBIN_TRY_ASSIGN(const format::OpenedDirectory opened,
                   format::open_directory(*source, {}, format::TrailingBytes::refuse));
  CLBIN_TRY_ASSIGN(auto records, format::read_trailing_records(*source, opened.prefix,
                                                               format::RecordSelection::all));
  return RootAndRecords{opened.prefix.root, std::move(records)};
}

} // namespace oclcc::trust
