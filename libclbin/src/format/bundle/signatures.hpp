// The records after the body of a bundle: signatures, counters, vouches, and records of kinds that
// this version does not know. The root does not cover them. clbin(5), "Verifying signatures",
// specifies which signatures a verifier requires.
#pragma once

#include "base/crypto/ed25519.hpp"
#include "base/file_io.hpp"
#include "format/bundle/bundle_layout.hpp"

namespace clbin::format {

struct TrailingRecord {
  std::uint32_t kind = 0;
  std::uint32_t flags = 0;
  Bytes bytes; // without padding
  friend auto operator<=>(const TrailingRecord&, const TrailingRecord&) = default;
};

// Kind 1: `key` signs the root, and through it every byte that the root covers.
struct SignatureRecord {
  static constexpr TrailingKind k_kind = TrailingKind::ed25519_signature;
  base::PublicKey key;
  base::Signature signature;
};
CLBIN_VISIT(SignatureRecord, public_key, signature);
// Kind 16: `key` gives the root a number, against a return to an older bundle.
struct CounterRecord {
  static constexpr TrailingKind k_kind = TrailingKind::counter;
  base::PublicKey key;
  std::uint64_t counter = 0;
  base::Signature signature;
};
CLBIN_VISIT(CounterRecord, public_key, counter, signature);
// Kind 17: who trusts `old_key` may trust `new_key`, whatever bundle the record is in.
struct VouchRecord {
  static constexpr TrailingKind k_kind = TrailingKind::vouch;
  base::PublicKey old_key;
  base::PublicKey new_key;
  base::Signature signature; // by old_key
};
CLBIN_VISIT(VouchRecord, old_public_key, new_public_key, signature);

// Returns what the signatures of the three kinds sign.
[[nodiscard]] Bytes signature_message(const Digest& root); // 43 bytes
[[nodiscard]] Bytes counter_message(const Digest& root, std::uint64_t counter);
[[nodiscard]] Bytes vouch_message(const base::PublicKey& new_key);

[[nodiscard]] inline SignatureRecord sign_root(const Digest& root, const base::SecretKey& key) {
  return {key.public_key(), key.sign(signature_message(root))};
}
[[nodiscard]] inline CounterRecord sign_counter(const Digest& root, std::uint64_t counter,
                                                const base::SecretKey& key) {
  return {key.public_key(), counter, key.sign(counter_message(root, counter))};
}
[[nodiscard]] inline VouchRecord vouch_for(const base::PublicKey& new_key,
                                           const base::SecretKey& old_key) {
  return {old_key.public_key(), new_key, old_key.sign(vouch_message(new_key))};
}

[[nodiscard]] inline bool holds(const SignatureRecord& record, const Digest& root) {
  return base::holds(record.signature, record.key, signature_message(root));
}
[[nodiscard]] inline bool holds(const CounterRecord& record, const Digest& root) {
  return base::holds(record.signature, record.key, counter_message(root, record.counter));
}
[[nodiscard]] inline bool holds(const VouchRecord& record, const Digest& /*root*/) {
  return base::holds(record.signature, record.old_key, vouch_message(record.new_key));
}

[[nodiscard]] inline bool is_of_kind(const TrailingRecord& record, TrailingKind kind) noexcept {
  return record.kind == static_cast<std::uint32_t>(kind);
}

// Bit 0 of the flags is clear.
template <Record Signed>
[[nodiscard]] TrailingRecord to_trailing_record(const Signed& record) {
  ByteWriter writer;
  write_record(writer, record);
  return {static_cast<std::uint32_t>(Signed::k_kind), 0, std::move(writer).take()};
}
// Returns std::nullopt unless the record has the kind of `Signed`.
template <Record Signed>
[[nodiscard]] std::optional<Signed> read_signed(const TrailingRecord& record) {
  auto read = read_record<Signed>(ByteView(record.bytes), "trailing record");
  return read && is_of_kind(record, Signed::k_kind) ? std::optional(*read) : std::nullopt;
}

// Error: damaged, unless the bytes at `offset`, which belong to `origin`, are zero.
[[nodiscard]] Result<void> check_padding(const base::ByteSource& source, std::uint64_t offset,
                                         std::uint64_t padding, std::string_view origin);

// Determines the records whose contents are read. The heads and the padding of all are checked.
enum class RecordSelection : std::uint8_t { none, known, all };
// Returns the selected records in the order of the bundle, each from one read of the source.
// Errors: as BundleReader::open.
[[nodiscard]] Result<std::vector<TrailingRecord>>
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
[[nodiscard]] Result<Bytes> with_trailing_records(ByteView bundle,
                                                  std::vector<TrailingRecord> records);

// What a verifier trusts, whatever the bundle contains.
struct SignaturePolicy {
  std::vector<base::PublicKey> keys;
  std::uint64_t least_counter = 0; // 0: a bundle needs no counter
};

// Checks the records of a bundle with this root; ignores those of kinds that contain no signature.
// Verifies the signatures of trusted keys alone, each once. Returns the highest counter by a
// trusted key, or 0 if there is none. Errors: not_signed, untrusted_key, bad_signature,
// old_counter.
[[nodiscard]] Result<std::uint64_t> check_signatures(const Digest& root,
                                                     const std::vector<TrailingRecord>& records,
                                                     const SignaturePolicy& policy);

// Checks that every signature, counter and vouch holds, whoever made it. Error: bad_signature.
[[nodiscard]] Result<void> check_every_signature(const Digest& root,
                                                 const std::vector<TrailingRecord>& records);

} // namespace clbin::format
