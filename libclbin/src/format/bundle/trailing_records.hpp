// The records after the body of a bundle: signatures, counters, vouches, and records of kinds that
// this version does not know. The root does not cover them.
#pragma once

#include "base/crypto/ed25519.hpp"
#include "base/file_io.hpp"
#include "format/bundle/bundle_layout.hpp"

#include <compare>
#include <cstdint>
#include <vector>

namespace clbin::format {

struct TrailingRecord {
  std::uint32_t kind = 0;
  std::uint32_t flags = 0;
  base::Bytes bytes; // without padding
  friend auto operator<=>(const TrailingRecord&, const TrailingRecord&) = default;
};

// Kind 1: `key` signs the root, and through it every byte that the root covers.
struct SignatureRecord {
  base::PublicKey key;
  base::Signature signature;
};
// Kind 16: `key` gives the root a number, against a return to an older bundle.
struct CounterRecord {
  base::PublicKey key;
  std::uint64_t counter = 0;
  base::Signature signature;
};
// Kind 17: who trusts `old_key` may trust `new_key`, whatever bundle the record is in.
struct VouchRecord {
  base::PublicKey old_key;
  base::PublicKey new_key;
  base::Signature signature; // by old_key
};

// Returns what the signatures of the three kinds sign.
[[nodiscard]] base::Bytes signature_message(const base::Digest& root); // 43 bytes
[[nodiscard]] base::Bytes counter_message(const base::Digest& root, std::uint64_t counter);
[[nodiscard]] base::Bytes vouch_message(const base::PublicKey& new_key);

[[nodiscard]] SignatureRecord sign_root(const base::Digest& root, const base::SecretKey& key);
[[nodiscard]] CounterRecord sign_counter(const base::Digest& root, std::uint64_t counter,
                                         const base::SecretKey& key);
[[nodiscard]] VouchRecord vouch_for(const base::PublicKey& new_key, const base::SecretKey& old_key);

[[nodiscard]] bool holds(const SignatureRecord& record, const base::Digest& root);
[[nodiscard]] bool holds(const CounterRecord& record, const base::Digest& root);
[[nodiscard]] bool holds(const VouchRecord& record);

// Bit 0 of the flags is clear.
[[nodiscard]] TrailingRecord to_trailing_record(const SignatureRecord& record);
[[nodiscard]] TrailingRecord to_trailing_record(const CounterRecord& record);
[[nodiscard]] TrailingRecord to_trailing_record(const VouchRecord& record);

[[nodiscard]] bool is_of_kind(const TrailingRecord& record, TrailingKind kind) noexcept;
// Errors: damaged, if the record has another size. Its kind must be that of the function.
[[nodiscard]] base::Result<SignatureRecord> read_signature_record(const TrailingRecord& record);
[[nodiscard]] base::Result<CounterRecord> read_counter_record(const TrailingRecord& record);
[[nodiscard]] base::Result<VouchRecord> read_vouch_record(const TrailingRecord& record);

// Determines the records whose contents are read. The heads and the padding of all are checked.
enum class RecordSelection : std::uint8_t { none, known, all };
// Returns the selected records in the order of the bundle, each from one read of the source.
// Errors: as BundleReader::open.
[[nodiscard]] base::Result<std::vector<TrailingRecord>>
read_trailing_records(const base::ByteSource& source, const Prefix& prefix,
                      RecordSelection selection);

// Adds a record of a known kind. It replaces the records with the same keys: a key has one
// signature and one counter, and vouches once for another key.
void put_record(std::vector<TrailingRecord>& records, TrailingRecord record);
// Removes the records of the known kinds.
void remove_signatures(std::vector<TrailingRecord>& records);
// Returns a copy of `bundle` with other trailing records: those of known kinds in ascending order
// of kind and bytes, then the others in the order of `records`. Errors: as BundleReader::open for
// `bundle`; invalid_argument, if there are more than 16 records.
[[nodiscard]] base::Result<base::Bytes> with_trailing_records(base::ByteView bundle,
                                                              std::vector<TrailingRecord> records);

} // namespace clbin::format
