// Reads an untrusted bundle. Opening reads only prefix and directory. A table page is read and
// checked when a look-up first needs it, and a payload when it is requested.
#pragma once

#include "base/digest.hpp"
#include "base/file_io.hpp"
#include "format/binary/binary_kind.hpp"
#include "format/bundle/bundle_layout.hpp"
#include "format/bundle/encryption.hpp"
#include "format/bundle/manifest.hpp"
#include "format/bundle/read_budget.hpp"
#include "format/bundle/read_limits.hpp"
#include "format/bundle/shared_text.hpp"
#include "model/bundle.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clbin::base {
class ZstdDecompressor;
} // namespace clbin::base

namespace clbin::format {

struct SignaturePolicy;
struct TrailingRecord;

// A program and a variant.
struct GroupView {
  std::uint32_t index = 0;
  SharedText program;
  SharedText variant;
  SharedText options; // used by the source fallback
  std::uint32_t first_entry = 0;
  std::uint32_t entry_count = 0;
  std::uint32_t source_blob = k_no_index;
  std::uint32_t manifest_blob = k_no_index;
};

struct TargetView {
  TargetOrigin origin = TargetOrigin::installed_device;
  DeviceFamily family = DeviceFamily::unknown;
  base::Digest digest; // target_digest
  // The texts that the table contains for reports; the manifest contains the whole identity.
  SharedText platform_name;
  SharedText device_name;
  SharedText driver_version;
  SharedText spec;
};

struct EntryView {
  std::uint32_t index = 0;
  std::uint32_t group = 0;
  TargetView target;
  std::uint64_t match_key = 0;
  BinaryKind kind = BinaryKind::unknown;
  PayloadType type = PayloadType::executable;
  std::uint8_t address_bits = 0;
  std::uint32_t blob = 0;
  std::uint32_t manifest_row = 0;
  SharedNames kernels; // ascending, none empty
  SharedText options;
};

// Describes the payload by its match key and its target, without reading it.
[[nodiscard]] std::string describe(const EntryView& entry);

struct EntryRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// Immutable after opening and unlocking, and movable. Thread-safe: every const method can be called
// concurrently.
// Every method that reads can return truncated, damaged, digest_mismatch, limit_exceeded, file_read
// and out_of_memory. The message names the section, the record and the field, but not the bundle,
// which the caller knows. No input causes a crash, an endless loop, or allocations beyond the
// limits.
class BundleReader {
public:
  // Errors: also not_a_bundle, newer_version, unknown_required_section, trailing_bytes.
  [[nodiscard]] static base::Result<BundleReader>
  open(std::shared_ptr<const base::ByteSource> source, const ReadLimits& limits,
       TrailingBytes trailing);
  // Returns the same, but parses no more than the prefix and the trailing records of a bundle whose
  // signatures are not those that `required` demands. Errors: also not_signed, untrusted_key,
  // bad_signature, old_counter.
  [[nodiscard]] static base::Result<BundleReader>
  open(std::shared_ptr<const base::ByteSource> source, const ReadLimits& limits,
       TrailingBytes trailing, const SignaturePolicy& required);
  ~BundleReader();
  BundleReader(BundleReader&&) noexcept;
  BundleReader& operator=(BundleReader&&) noexcept;

  [[nodiscard]] std::uint32_t group_count() const noexcept;
  [[nodiscard]] std::uint32_t entry_count() const noexcept;
  [[nodiscard]] std::uint32_t blob_count() const noexcept;
  [[nodiscard]] std::uint64_t total_bytes() const noexcept;
  [[nodiscard]] const base::Digest& root_digest() const noexcept;
  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] std::pair<std::uint16_t, std::uint16_t> format_version() const noexcept;
  // Returns whether the bundle was opened with a policy, and is therefore signed by a trusted key.
  [[nodiscard]] bool is_trusted() const noexcept;
  // Returns the highest counter by a trusted key; 0 if there is none, or is_trusted() is false.
  [[nodiscard]] std::uint64_t counter() const noexcept;
  // Reads the trailing records whose kind this version knows.
  [[nodiscard]] base::Result<std::vector<TrailingRecord>> signature_records() const;

  // Returns whether the contents are encrypted: payloads, sources and manifests. Until the bundle
  // is unlocked, whatever reads them returns `encrypted`; the tables can be read.
  [[nodiscard]] bool is_encrypted() const noexcept;
  // Returns whether the bundle is encrypted and was not unlocked.
  [[nodiscard]] bool is_locked() const noexcept;
  // Returns the slots of KEYS, none if the bundle is not encrypted. All have the same key id.
  [[nodiscard]] base::Result<std::vector<KeySlot>> key_slots() const;
  // Decrypts contents with `key`, which must not be null, from now on. Call it before other threads
  // use the reader. Errors: also wrong_key, if the slots have another id, and invalid_argument, if
  // the bundle is not encrypted.
  [[nodiscard]] base::Result<void> unlock(std::shared_ptr<const base::ContentKey> key);
  // Returns null until the bundle is unlocked.
  [[nodiscard]] const std::shared_ptr<const base::ContentKey>& content_key() const noexcept;
  // Returns the digest that BLOB contains for raw bytes with this digest: a keyed one if the bundle
  // is encrypted. The bundle must be unlocked.
  [[nodiscard]] base::Digest table_digest(const base::Digest& raw_digest) const noexcept;

  // Errors: also invalid_argument, if the index is out of range.
  [[nodiscard]] base::Result<GroupView> group(std::uint32_t index) const;
  [[nodiscard]] base::Result<EntryView> entry(std::uint32_t index) const;
  // Returns the same if the group is known, and reads fewer pages. `index` must be in its range
  // (invalid_argument).
  [[nodiscard]] base::Result<EntryView> entry(std::uint32_t index, const GroupView& group) const;
  [[nodiscard]] base::Result<BlobView> blob(std::uint32_t index) const;

  // Errors: also no_such_program and no_such_variant, which list at most 8 of the existing names.
  [[nodiscard]] base::Result<GroupView> find_group(std::string_view program,
                                                   std::string_view variant) const;
  // Returns the entries of `group` whose target digest is `target`, in table order: almost always
  // none or one.
  [[nodiscard]] base::Result<std::vector<EntryView>> find_exact(const GroupView& group,
                                                                const base::Digest& target) const;
  // Returns the entries of `group` with low <= match_key <= high, as a range of entry indices.
  [[nodiscard]] base::Result<EntryRange> find_key_range(const GroupView& group, std::uint64_t low,
                                                        std::uint64_t high) const;

  // Returns the limits of one call. Unless ReadLimits contains others: 48 MiB of memory plus 8
  // bytes for each byte of the bundle; 2 GiB of raw bytes, or 256 bytes for each byte of the bundle
  // if that is more. Methods that accept a budget create their own if it is null.
  [[nodiscard]] ReadBudget budget() const noexcept;

  // Returns the raw bytes: checks the stored digest, decrypts, and decompresses to exactly
  // raw_bytes. Does not check the raw digest; `verify` does. Errors: also encrypted, if the bundle
  // is and has not been unlocked.
  [[nodiscard]] base::Result<base::Bytes> read_blob(std::uint32_t index,
                                                    ReadBudget* budget = nullptr) const;
  // Returns the stored frame after checking its digest, decrypted, for merge and strip. Errors:
  // also encrypted.
  [[nodiscard]] base::Result<base::ByteRegion> read_frame(std::uint32_t index) const;
  // Returns the stored bytes after checking their digest, still encrypted if the bundle is.
  [[nodiscard]] base::Result<base::ByteRegion> read_stored(std::uint32_t index) const;
  // Decompresses like read_blob, but from a frame that read_frame returned and from the raw bytes
  // of the blob's reference, which are ignored if it has none.
  [[nodiscard]] base::Result<base::Bytes> decompress(std::uint32_t index, base::ByteView frame,
                                                     base::ByteView reference,
                                                     base::ZstdDecompressor& decompressor) const;
  // Returns the manifest of a program, with each row checked against the table. Errors: also
  // manifest_invalid.
  [[nodiscard]] base::Result<Manifest> read_manifest(const GroupView& group,
                                                     ReadBudget* budget = nullptr) const;
  // Returns the same without checking it against the table: for programs with several variants,
  // together with ManifestCheck.
  [[nodiscard]] base::Result<Manifest> decode_manifest_of(const GroupView& group,
                                                          ReadBudget& budget) const;
  // Errors: also no_source, if the bundle contains none.
  [[nodiscard]] base::Result<SourcePackage> read_source(const GroupView& group,
                                                        ReadBudget* budget = nullptr) const;

  // Checks every byte: all pages, all digests (including raw ones), all padding, sort orders,
  // manifests, sources. If the bundle was opened with a policy, also checks every signature,
  // counter and vouch, whoever made it (bad_signature). If the bundle is encrypted and has not been
  // unlocked, checks everything but contents, and then returns `encrypted`.
  [[nodiscard]] base::Result<void> verify() const;
  // Behaves like read_blob, with a reference that the caller has read already (empty if there is
  // none).
  [[nodiscard]] base::Result<base::Bytes>
  read_against(std::uint32_t index, base::ByteView reference, ReadBudget& budget) const;

  // Returns the number of frames that read_blob has decompressed since open, including references.
  // Tests use it to prove that look-ups decompress none, and that merge and strip decompress none
  // twice.
  [[nodiscard]] std::uint64_t decompressed_count() const noexcept;

private:
  struct State;
  explicit BundleReader(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

} // namespace clbin::format
