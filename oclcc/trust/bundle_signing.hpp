// Signs bundles: by records in them, or by files of minisign beside them; with a secret key, or
// with a command that does not show its key to oclcc.
#pragma once

#include "trust/key_files.hpp"
#include "worker/worker_home.hpp"

#include <chrono>

namespace oclcc::trust {

// As messages name it.
inline constexpr std::string_view k_sign_command = "the command of '--sign-with'";
// Returns what the command writes to standard output. It runs as SignMessage documents; `home` ends
// it, and what it starts. file_read, also if the system has no such commands.
[[nodiscard]] Result<base::Bytes> answer_of_command(const std::string& command,
                                                    worker::WorkerHome& home,
                                                    std::chrono::seconds limit,
                                                    base::ByteView message);

struct SignedBundle {
  base::Bytes bytes;
  std::optional<std::uint64_t> replaced_counter; // by the same key, if it was higher
};

// Everything that signs the bundles of a run. Not thread-safe.
class BundleSigner {
public:
  // Reads the keys of `options`, whose signing.is_requested() must be true, and prints a warning
  // for each file of a secret key that others can open. If `stop` is requested, or oclcc is killed,
  // the running command and the processes that it has started are ended. Call it before other
  // threads start. Errors: those of read_secret_key, read_public_key and WorkerHome::create;
  // invalid_argument, if a key vouches for itself.
  [[nodiscard]] static Result<BundleSigner> open(const Options& options, std::stop_token stop,
                                                 Reporter& reporter);

  // Returns `bundle` with a signature record, and with those of the counter and of the vouching key
  // if there are any. They replace records by the same keys. Only the records of `bundle` and its
  // root are checked. Errors: those of BundleReader::open and of SignMessage; bad_signature, if
  // another record of `bundle` does not hold; limit_exceeded, if there are too many records.
  [[nodiscard]] Result<SignedBundle> sign(base::ByteView bundle);

  // Returns whether sign() writes a record of the kind and the keys of `record`.
  [[nodiscard]] bool writes_like(const format::TrailingRecord& record) const;

  // Returns the contents of a signature file for `file`, as minisign -S writes it. `name` is the
  // name of the file in the trusted comment, with the current time or SOURCE_DATE_EPOCH. Errors:
  // those of SignMessage; invalid_argument, if the id of the key is not known, or the name
  // contains control characters.
  [[nodiscard]] Result<std::string> sign_detached(base::ByteView file,
                                                  const std::filesystem::path& name);

private:
  // Returns a signature that holds, by the secret key, or by the command of --sign-with, which is
  // run with /bin/sh: it reads `message`, at most 4096 bytes, from standard input and writes the
  // signature to standard output: 64 bytes, 88 base64 digits, or a signature file as minisign -l
  // writes it. Blocks until it exits, or ends it after --timeout. file_read: the command fails,
  // does not finish, or its answer is not a signature of `message` by the public key. Messages do
  // not contain the command, which may contain a password.
  using SignMessage = std::function<Result<base::Signature>(base::ByteView message)>;

  BundleSigner() = default;

  TrustedKey m_key; // that of m_sign_message
  SignMessage m_sign_message;
  std::optional<std::uint64_t> m_counter;
  std::optional<format::VouchRecord> m_vouch;
};

// Returns whether a signature file may sign the file that starts with `start`, which is no bundle,
// as it is: a JSON object, such as --provenance and --sbom write.
[[nodiscard]] bool is_document(base::ByteView start) noexcept;
// Returns the name of the signature file beside `file`.
[[nodiscard]] std::filesystem::path detached_name(const std::filesystem::path& file);
// Checks the signature file of a file. Errors: not_signed, if there is none; file_read;
// untrusted_key, if none of `keys` made it; bad_signature.
[[nodiscard]] Result<void> check_detached(base::ByteView file,
                                          const std::filesystem::path& signature_file,
                                          const std::vector<TrustedKey>& keys);

// Returns the root and the trailing records of a bundle in memory. Errors: those of
// BundleReader::open.
struct RootAndRecords {
  base::Digest root;
  std::vector<format::TrailingRecord> records;
};
[[nodiscard]] Result<RootAndRecords> read_root_and_records(base::ByteView bundle);

} // namespace oclcc::trust
