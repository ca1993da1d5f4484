// Signs bundles: by records in them, or by files of minisign beside them.
#pragma once

#include "format/bundle/signatures.hpp"
#include "trust/signer.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace oclcc::trust {

struct SignedBundle {
  clbin::base::Bytes bytes;
  std::optional<std::uint64_t> replaced_counter; // by the same key, if it was higher
};

// Everything that signs the bundles of a run. Not thread-safe.
class BundleSigner {
public:
  // Reads the keys. Call it before other threads start. Errors: those of Signer::open;
  // invalid_argument, if a key vouches for itself.
  [[nodiscard]] static clbin::base::Result<BundleSigner> open(const Options& options,
                                                              std::stop_token stop);

  // Returns `bundle` with a signature record, and with those of the counter and of the vouching key
  // if there are any. They replace records by the same keys. Only the records of `bundle` and its
  // root are checked. Errors: those of BundleReader::open and of Signer::sign; bad_signature, if
  // another record of `bundle` does not hold; limit_exceeded, if there are too many records.
  [[nodiscard]] clbin::base::Result<SignedBundle> sign(clbin::base::ByteView bundle);

  // Returns a warning for each file of a secret key that others can open.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return m_warnings; }

  // Returns whether sign() writes a record of the kind and the keys of `record`.
  [[nodiscard]] bool writes_like(const clbin::format::TrailingRecord& record) const;

  // Returns the contents of a signature file for `file`, as minisign -S writes it. `name` is the
  // name of the file in the trusted comment, with the current time or SOURCE_DATE_EPOCH. Errors:
  // those of Signer::sign; invalid_argument, if the id of the key is not known, or the name
  // contains control characters.
  [[nodiscard]] clbin::base::Result<std::string> sign_detached(clbin::base::ByteView file,
                                                               const std::filesystem::path& name);

private:
  explicit BundleSigner(Signer signer) : m_signer(std::move(signer)) {}
  [[nodiscard]] std::optional<std::uint64_t>
  higher_counter_in(const std::vector<clbin::format::TrailingRecord>& records) const;

  Signer m_signer;
  std::optional<std::uint64_t> m_counter;
  std::optional<clbin::format::VouchRecord> m_vouch;
  std::vector<std::string> m_warnings;
};

// Returns the name of the signature file beside `file`.
[[nodiscard]] std::filesystem::path detached_name(const std::filesystem::path& file);
// Checks the signature file of a file. Errors: not_signed, if there is none; file_read;
// untrusted_key, if none of `keys` made it; bad_signature.
[[nodiscard]] clbin::base::Result<void> check_detached(clbin::base::ByteView file,
                                                       const std::filesystem::path& signature_file,
                                                       const std::vector<TrustedKey>& keys);

// Returns the root and the trailing records of a bundle in memory. Errors: those of
// BundleReader::open.
struct RootAndRecords {
  clbin::base::Digest root;
  std::vector<clbin::format::TrailingRecord> records;
};
[[nodiscard]] clbin::base::Result<RootAndRecords>
read_root_and_records(clbin::base::ByteView bundle);

} // namespace oclcc::trust
