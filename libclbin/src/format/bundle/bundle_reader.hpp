// Reads a bundle that nobody vouches for. Opening reads prefix and directory only; a table page is
// read and checked when a look-up first touches it; a payload when it is asked for.
#pragma once

#include "base/digest.hpp"
#include "base/file_io.hpp"
#include "format/binary/binary_kind.hpp"
#include "format/bundle/bundle.hpp"
#include "format/bundle/bundle_layout.hpp"
#include "format/bundle/manifest.hpp"
#include "format/bundle/read_budget.hpp"
#include "format/bundle/read_limits.hpp"
#include "format/bundle/shared_text.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clbin::base {
class ZstdDecompressor;
} // namespace clbin::base

namespace clbin::format {

// A program and a variant.
struct GroupView {
  std::uint32_t index = 0;
  SharedText program;
  SharedText variant;
  SharedText options; // source fallback builds with these
  std::uint32_t first_entry = 0;
  std::uint32_t entry_count = 0;
  std::uint32_t source_blob = k_no_index;
  std::uint32_t manifest_blob = k_no_index;
};

struct TargetView {
  TargetOrigin origin = TargetOrigin::installed_device;
  DeviceFamily family = DeviceFamily::unknown;
  base::Digest digest; // target_digest
  // What the table holds for reports; the whole identity is in the manifest.
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

// Immutable once open; every const method may be called from many threads at once. Movable.
// Every method that reads can return: truncated, damaged, digest_mismatch, limit_exceeded,
// file_read, out_of_memory; the message names the section, the record and the field, but not the
// bundle: that the caller knows. No input makes it crash, hang, or allocate beyond the limits.
class BundleReader {
public:
  // Besides the above: not_a_bundle, newer_version, unknown_required_section, trailing_bytes.
  [[nodiscard]] static base::Result<BundleReader>
  open(std::shared_ptr<const base::ByteSource> source, const ReadLimits& limits,
       TrailingBytes trailing);
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

  // Of an index that is none: invalid_argument.
  [[nodiscard]] base::Result<GroupView> group(std::uint32_t index) const;
  [[nodiscard]] base::Result<EntryView> entry(std::uint32_t index) const;
  // The same where the group is known: `index` must be in its range (invalid_argument). Touches
  // fewer pages.
  [[nodiscard]] base::Result<EntryView> entry(std::uint32_t index, const GroupView& group) const;
  [[nodiscard]] base::Result<BlobView> blob(std::uint32_t index) const;

  // no_such_program (with those there are, at most 8) or no_such_variant (likewise).
  [[nodiscard]] base::Result<GroupView> find_group(std::string_view program,
                                                   std::string_view variant) const;
  // Entries of `group` whose target digest is `target`, in table order: nearly always none or one.
  [[nodiscard]] base::Result<std::vector<EntryView>> find_exact(const GroupView& group,
                                                                const base::Digest& target) const;
  // Entries of `group` with low <= match_key <= high, as a range of entry indices.
  [[nodiscard]] base::Result<EntryRange> find_key_range(const GroupView& group, std::uint64_t low,
                                                        std::uint64_t high) const;

  // What one call may cost. Unless the limits say otherwise: 48 MiB and 8 bytes for each of the
  // bundle's of memory; 2 GiB, or 256 bytes for each of the bundle's where that is more, of raw
  // bytes. Methods that take a budget make one of their own where it is null.
  [[nodiscard]] ReadBudget budget() const noexcept;

  // The raw bytes: stored digest checked, then decompressed to exactly raw_bytes. Not the raw
  // digest: `verify` checks that too. encrypted, where the blob is.
  [[nodiscard]] base::Result<base::Bytes> read_blob(std::uint32_t index,
                                                    ReadBudget* budget = nullptr) const;
  // The stored frame, its digest checked; for merge and strip.
  [[nodiscard]] base::Result<base::ByteRegion> read_frame(std::uint32_t index) const;
  // What read_blob returns, of a frame that read_frame has returned and of the raw bytes of the
  // blob's reference, which are ignored if it has none.
  [[nodiscard]] base::Result<base::Bytes> decompress(std::uint32_t index, base::ByteView frame,
                                                     base::ByteView reference,
                                                     base::ZstdDecompressor& decompressor) const;
  // The manifest of a program, checked against the table row by row. manifest_invalid.
  [[nodiscard]] base::Result<Manifest> read_manifest(const GroupView& group,
                                                     ReadBudget* budget = nullptr) const;
  // The same, not yet checked against the table: for programs of several variants, with
  // ManifestCheck.
  [[nodiscard]] base::Result<Manifest> decode_manifest_of(const GroupView& group,
                                                          ReadBudget& budget) const;
  // no_source where the bundle carries none.
  [[nodiscard]] base::Result<SourcePackage> read_source(const GroupView& group,
                                                        ReadBudget* budget = nullptr) const;

  // Every byte: all pages, all digests (raw too), all padding, sort orders, manifests, sources.
  [[nodiscard]] base::Result<void> verify() const;
  // As read_blob, against a reference that the caller has read already (empty: it has none).
  [[nodiscard]] base::Result<base::Bytes>
  read_against(std::uint32_t index, base::ByteView reference, ReadBudget& budget) const;

  // How many frames read_blob has decompressed since open, references included: tests prove that
  // look-ups need none, and that merge and strip decompress none twice.
  [[nodiscard]] std::uint64_t decompressed_count() const noexcept;

private:
  struct State;
  explicit BundleReader(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

} // namespace clbin::format
