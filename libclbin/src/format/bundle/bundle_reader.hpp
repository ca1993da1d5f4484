// Reads an untrusted bundle. Opening reads only prefix and directory. A table page is read and
// checked when a look-up first needs it, and a payload when it is requested.
#pragma once

#include "base/zstd_codec.hpp"
#include "format/bundle/bundle_tables.hpp"
#include "format/bundle/encryption.hpp"
#include "format/bundle/known_answers.hpp"
#include "format/bundle/manifest.hpp"
#include "format/bundle/measurements.hpp"

#include <atomic>

namespace clbin::format {

// A program and a variant.
struct GroupView : GroupRecord {
  std::uint32_t index = 0;
  SharedNames required; // extensions; see RequirementRecord
};

// A variant that measurements rank, and the least that its launches need of a device; 0 if unknown.
struct RankedGroup {
  GroupView group;
  std::uint32_t work_items = 0;
  std::uint32_t local_bytes = 0;
};

struct EntryView : EntryRecord {
  std::uint32_t index = 0;
  std::uint32_t group = 0;
};

// Returns the file of a base (k_base_name) or a pack.
[[nodiscard]] std::filesystem::path pack_path(const std::filesystem::path& folder,
                                              std::string_view name);

// Describes the payload by its match key and its target, without reading it.
[[nodiscard]] std::string describe(const EntryView& entry);

struct EntryRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// Immutable after opening and unlocking, and movable. Const methods are thread-safe. Every method
// that reads can return truncated, damaged, digest_mismatch, limit_exceeded, file_read and
// out_of_memory; the message names the section, the record and the field, but not the bundle. No
// input causes a crash, an endless loop, or allocations beyond the limits.
class BundleReader {
public:
  // Parses no more than the prefix and the trailing records of a bundle whose signatures are not
  // those that `required` demands. Errors: also not_a_bundle, newer_version,
  // unknown_required_section, trailing_bytes; not_signed, untrusted_key, bad_signature,
  // old_counter.
  [[nodiscard]] static Result<BundleReader>
  open(std::shared_ptr<const ByteSource> source, const ReadLimits& limits = {},
       TrailingBytes trailing = TrailingBytes::refuse,
       const std::optional<SignaturePolicy>& required = {});
  // Opens a file. Errors: also those of base::open_file_source.
  [[nodiscard]] static Result<BundleReader> open_file(const std::filesystem::path& path);

  [[nodiscard]] std::uint32_t group_count() const noexcept {
    return m_tables->count(SectionKind::group);
  }
  [[nodiscard]] std::uint32_t entry_count() const noexcept {
    return m_tables->count(SectionKind::entry);
  }
  [[nodiscard]] std::uint32_t blob_count() const noexcept {
    return m_tables->count(SectionKind::blob);
  }
  [[nodiscard]] std::uint64_t total_bytes() const noexcept { return m_prefix.total_bytes; }
  [[nodiscard]] const Digest& root_digest() const noexcept { return m_prefix.root; }
  [[nodiscard]] const std::string& name() const noexcept { return m_tables->source().name(); }
  // As ByteSource::is_current.
  [[nodiscard]] bool is_current() const { return m_tables->source().is_current(); }
  [[nodiscard]] const Prefix& prefix() const noexcept { return m_prefix; }
  // Whether the bundle was opened with a policy, and is therefore signed by a trusted key.
  [[nodiscard]] bool is_trusted() const noexcept { return m_is_trusted; }
  // Returns the highest counter by a trusted key; 0 if there is none, or is_trusted() is false.
  [[nodiscard]] std::uint64_t counter() const noexcept { return m_counter; }
  // Reads the trailing records whose kind this version knows.
  [[nodiscard]] Result<std::vector<TrailingRecord>> signature_records() const;

  // Whether payloads, sources and manifests are encrypted. Until the bundle is unlocked, whatever
  // reads them returns `encrypted`; the tables can be read.
  [[nodiscard]] bool is_encrypted() const noexcept {
    return m_tables->directory().has(SectionKind::keys);
  }
  [[nodiscard]] bool is_locked() const noexcept { return is_encrypted() && m_key == nullptr; }
  // Returns the slots of KEYS, none if the bundle is not encrypted. All have the same key id.
  [[nodiscard]] Result<std::vector<KeySlot>> key_slots() const;
  // Decrypts contents with `key`, which must not be null, from now on. Call it before other threads
  // use the reader. Errors: also wrong_key, if the slots have another id, and invalid_argument, if
  // the bundle is not encrypted.
  [[nodiscard]] Result<void> unlock(std::shared_ptr<const base::ContentKey> key);
  // Null until the bundle is unlocked.
  [[nodiscard]] const std::shared_ptr<const base::ContentKey>& content_key() const noexcept {
    return m_key;
  }
  // Returns the digest that BLOB contains for raw bytes with this digest: a keyed one if the bundle
  // is encrypted. The bundle must be unlocked.
  [[nodiscard]] Digest table_digest(const Digest& raw_digest) const noexcept {
    return is_encrypted() ? m_key->keyed(raw_digest) : raw_digest;
  }

  // Errors: also invalid_argument, if the index is out of range.
  [[nodiscard]] Result<GroupView> group(std::uint32_t index) const;
  [[nodiscard]] Result<EntryView> entry(std::uint32_t index) const;
  // Returns the same if the group is known, and reads fewer pages. `index` must be in its range
  // (invalid_argument).
  [[nodiscard]] Result<EntryView> entry(std::uint32_t index, const GroupView& group) const;
  // `user` names the record that contains the index in messages; empty if it is the caller's.
  [[nodiscard]] Result<BlobView> blob(std::uint32_t index, std::string_view user = {}) const;
  // Returns the index of the blob with these raw bytes. The bundle must be unlocked. Errors: also
  // damaged, if there is none.
  [[nodiscard]] Result<std::uint32_t> find_blob(const Digest& raw_digest) const;
  // Returns the blob that `blob`, named `origin` in messages, is compressed against; std::nullopt
  // if there is none. damaged: it is compressed against another one itself.
  [[nodiscard]] Result<std::optional<BlobView>> reference_of(const BlobView& blob,
                                                             std::string_view origin) const;

  // Errors: also no_such_program and no_such_variant, which list at most 8 of the existing names.
  [[nodiscard]] Result<GroupView> find_group(std::string_view program,
                                             std::string_view variant) const;
  // Returns the variants of a program that require extensions, in table order.
  [[nodiscard]] Result<std::vector<GroupView>>
  groups_with_requirements(std::string_view program) const;
  [[nodiscard]] bool has_rankings() const noexcept {
    return m_tables->count(SectionKind::ranking) != 0;
  }
  // Returns the variants of a program that measurements rank under `key` (ranking_key), best first;
  // none if no variant was good on the device; std::nullopt if there are no measurements. Errors:
  // also damaged, if one is a variant of another program.
  [[nodiscard]] Result<std::optional<std::vector<RankedGroup>>>
  ranked_groups(std::string_view program, std::uint64_t key) const;
  [[nodiscard]] bool has_packs() const noexcept { return m_tables->count(SectionKind::pack) != 0; }
  // Returns the whole table, whose names are those of files: is_pack_name(). Records of one name
  // should have one root.
  [[nodiscard]] Result<std::vector<PackRecord>> packs() const;
  // Returns the entries of `group` whose target digest is `target`, in table order: almost always
  // none or one.
  [[nodiscard]] Result<std::vector<EntryView>> find_exact(const GroupView& group,
                                                          const Digest& target) const;
  // Returns the entries of `group` with low <= match_key <= high, as a range of entry indices.
  [[nodiscard]] Result<EntryRange> find_key_range(const GroupView& group, std::uint64_t low,
                                                  std::uint64_t high) const;

  // Returns the limits of one call: those of ReadLimits, otherwise ReadBudget::for_bundle. Methods
  // that accept a budget create their own if it is null.
  [[nodiscard]] ReadBudget budget() const noexcept;

  // Returns the raw bytes: checks the stored digest, decrypts, and decompresses to exactly
  // raw_bytes. Does not check the raw digest; `verify` does. Errors: also encrypted.
  [[nodiscard]] Result<Bytes> read_blob(std::uint32_t index, ReadBudget* budget = nullptr,
                                        std::string_view user = {}) const;
  // Returns the frame after checking its stored digest, decrypted. Errors: also encrypted.
  [[nodiscard]] Result<ByteRegion> read_frame(std::uint32_t index) const;
  // Returns the stored bytes after checking their digest, still encrypted if the bundle is.
  [[nodiscard]] Result<ByteRegion> read_stored(std::uint32_t index) const;
  // Decompresses like read_blob, but from a frame of read_frame and the raw bytes of the blob's
  // reference, which are ignored if it has none.
  [[nodiscard]] Result<Bytes> decompress(std::uint32_t index, ByteView frame, ByteView reference,
                                         base::ZstdDecompressor& decompressor) const;
  // Returns the manifest of a program, with each row of the group checked against the table.
  // Errors: also manifest_invalid.
  [[nodiscard]] Result<Manifest> read_manifest(const GroupView& group,
                                               ReadBudget* budget = nullptr) const;
  // Returns the same without checking it against the table, which is up to ManifestCheck.
  [[nodiscard]] Result<Manifest> decode_manifest_of(const GroupView& group,
                                                    ReadBudget& budget) const;
  // Errors: also no_source, if the bundle contains none.
  [[nodiscard]] Result<SourcePackage> read_source(const GroupView& group,
                                                  ReadBudget* budget = nullptr) const;

  // Returns the index of the blob with data of a recorded launch. Errors: also damaged, if there is
  // none, or it has another size.
  [[nodiscard]] Result<std::uint32_t> find_data(const KnownAnswer& answer,
                                                const NamedData& data) const;
  // Returns the data of the stored arguments of a recorded launch, in their order, and puts those
  // of its results into `answer`, where difference_of_answer looks for them. Returns nothing, and
  // changes nothing, if the launch is not recorded. Errors: as find_data.
  [[nodiscard]] Result<std::vector<Bytes>> read_data(KnownAnswer& answer, ReadBudget& budget) const;

  // Checks every byte: all pages, all digests (including raw ones), all padding, sort orders,
  // manifests, sources. If the bundle was opened with a policy, also checks every signature,
  // counter and vouch, whoever made it (bad_signature). If the bundle is encrypted and has not been
  // unlocked, checks everything but contents, and then returns `encrypted`.
  [[nodiscard]] Result<void> verify() const;

  // Returns how many frames were decompressed since open, for tests: look-ups decompress none, and
  // merge and strip decompress none twice.
  [[nodiscard]] std::uint64_t decompressed_count() const noexcept { return *m_decompressed; }

private:
  BundleReader(std::shared_ptr<const ByteSource> source, OpenedDirectory opened,
               const ReadLimits& limits, bool is_trusted);

  [[nodiscard]] Result<void> check_range(const GroupView& group) const;
  [[nodiscard]] Result<SharedNames> required_by(std::uint32_t group) const;
  [[nodiscard]] bool has_range(const GroupRecord& group) const noexcept;
  [[nodiscard]] Result<void> check_record_range(const GroupRecord& group,
                                                std::uint32_t index) const;
  [[nodiscard]] Result<std::uint32_t> group_of_entry(std::uint32_t entry) const;
  [[nodiscard]] Result<EntryView> entry_view(std::uint32_t index, std::uint32_t group) const;
  [[nodiscard]] tl::unexpected<base::Error> no_such_group(std::string_view program,
                                                          std::string_view variant) const;

  [[nodiscard]] Result<BlobView> readable_blob(std::uint32_t index,
                                               std::string_view user = {}) const;
  [[nodiscard]] Result<void> check_unlocked(const BlobView& blob, std::string_view origin) const;
  [[nodiscard]] Result<void> check_blob_limits(const BlobView& blob, std::string_view origin) const;
  [[nodiscard]] Result<ByteRegion> stored(const BlobView& blob, std::string_view origin) const;
  [[nodiscard]] Result<ByteRegion> frame(const BlobView& blob, std::string_view origin) const;
  template <typename Decode>
  [[nodiscard]] std::invoke_result_t<Decode, ByteView, ReadBudget*>
  decoded(std::uint32_t index, std::uint64_t raw_bytes, const std::string& origin,
          ReadBudget& budget, const Decode& decode) const;
  [[nodiscard]] Result<Bytes> raw_against(const BlobView& blob, std::string_view origin,
                                          ByteView frame, ByteView reference,
                                          base::ZstdDecompressor& decompressor) const;

  Prefix m_prefix;
  ReadLimits m_limits;
  std::unique_ptr<const TablePages> m_tables;
  bool m_is_trusted;
  std::uint64_t m_counter;
  std::shared_ptr<const base::ContentKey> m_key; // null until the bundle is unlocked
  std::unique_ptr<std::atomic<std::uint64_t>> m_decompressed;
};

// Checks the rows of a manifest against the table, for one group of its program after the other.
// Reader and manifest must outlive it.
class ManifestCheck {
public:
  ManifestCheck(const BundleReader& reader, const Manifest& manifest)
      : m_reader(reader), m_manifest(manifest), m_is_named(manifest.entries.size()) {}

  // For each row that an entry of `group` names, checks variant, target, options, kernels and raw
  // digest, and that no earlier entry names the row, so that the time of all checks is linear in
  // table and manifest. Error: manifest_invalid.
  [[nodiscard]] Result<void> check(const GroupView& group);

private:
  const BundleReader& m_reader;
  const Manifest& m_manifest;
  std::vector<bool> m_is_named; // by row
};

// Raw bytes that were compared with their raw digest, from which new bundles and extracted files
// are made. Keeps the raw bytes of one reference, which is decompressed only once for consecutive
// calls for blobs compressed against it. `reader` must outlive this object. Not thread-safe.
class ProvedBlobs {
public:
  explicit ProvedBlobs(const BundleReader& reader) : m_reader(reader), m_budget(reader.budget()) {}

  // Returns the raw bytes of a blob. Errors: digest_mismatch if raw_digest is not theirs,
  // limit_exceeded if all calls together read more than the budget of one call of the reader, and
  // those of BundleReader::read_blob.
  [[nodiscard]] Result<Bytes> read(std::uint32_t index);
  // Checks that raw_digest is that of the raw bytes. The caller provides the frame. Returns the
  // digest of the raw bytes, which is not the one in BLOB if the bundle is encrypted. Errors as for
  // read().
  [[nodiscard]] Result<Digest> check(std::uint32_t index, ByteView frame);
  // Returns the same for a blob that was read or checked, or whose dependent was.
  [[nodiscard]] const Digest& digest(std::uint32_t index) const { return m_digests.at(index); }

  // Sorts blobs so that each frame is decompressed once. Errors: any error of BundleReader::blob.
  [[nodiscard]] static Result<void> sort_by_reference(const BundleReader& reader,
                                                      std::vector<std::uint32_t>& blobs);

private:
  [[nodiscard]] Result<Bytes> decompress(std::uint32_t index, const BlobView& blob, ByteView frame);
  [[nodiscard]] Result<void> hold_reference(std::uint32_t index);
  [[nodiscard]] Result<void> prove(std::uint32_t index, const BlobView& blob, ByteView raw);
  [[nodiscard]] Result<void> charge(std::uint32_t index, std::uint64_t raw_bytes) {
    return m_budget.take_raw(raw_bytes, origin_of(SectionKind::blob, index));
  }

  const BundleReader& m_reader;
  ReadBudget m_budget; // of raw bytes
  base::ZstdDecompressor m_decompressor;
  std::optional<std::uint32_t> m_held; // the blob whose proved raw bytes are in m_reference
  Bytes m_reference;
  std::map<std::uint32_t, Digest> m_digests; // of raw bytes
};

// Limits the copies of texts that any number of records may name, for operations that keep or print
// those of a whole bundle. The limit of 16 MiB + 4 times the size of the file far exceeds any
// bundle that was not made to exhaust memory.
class TextBudget {
public:
  explicit TextBudget(std::uint64_t total_bytes) noexcept
      : m_limit(limit_for_file(total_bytes, 16ULL << 20U, 4)), m_left(m_limit) {}

  // Deducts the bytes of all texts of the record itself. Error: limit_exceeded.
  [[nodiscard]] Result<void> take(const GroupView& group) {
    return take(std::uint64_t{group.program.size()} + group.variant.size() + group.options.size());
  }
  [[nodiscard]] Result<void> take(const EntryView& entry);
  [[nodiscard]] Result<void> take(std::uint64_t bytes);

private:
  std::uint64_t m_limit;
  std::uint64_t m_left;
};

} // namespace clbin::format
