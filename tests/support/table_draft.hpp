// The tables of a bundle as a hostile writer makes them: any record, any string, any blob, even if
// they contradict each other. All digests are valid, and all tables are sorted.
#pragma once

#include "format/bundle/bundle_layout.hpp"
#include "model/bundle.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace clbin::test {

// How write_tables makes a manifest.
enum class ManifestOf : std::uint8_t {
  tables, // a manifest that agrees with the tables
  json,   // DraftProgram::json
  nobody, // none: the groups refer to no blob
};

struct DraftBlob {
  base::Digest raw_digest;
  std::uint32_t frame = 0; // in TableDraft::frames; several blobs may refer to one
  std::uint64_t raw_bytes = 0;
  std::uint32_t reference = format::k_no_index; // in TableDraft::blobs
  format::BlobCodec codec = format::BlobCodec::stored;
};

struct DraftTarget {
  format::Target target;
  base::Digest digest;
  std::string platform_name;
  std::string device_name;
  std::string driver_version;
  std::string spec;
};

struct DraftEntry {
  std::uint64_t match_key = 0;
  std::uint32_t target = 0; // in TableDraft::targets
  std::uint32_t blob = 0;   // in TableDraft::blobs
  std::string kernels;
  std::string options;
};

struct DraftVariant {
  std::string name = "default";
  std::string options;
  std::vector<DraftEntry> entries;
};

struct DraftProgram {
  std::string name = "p";
  std::vector<DraftVariant> variants;
  std::uint32_t source = format::k_no_index; // in TableDraft::blobs
  ManifestOf manifest = ManifestOf::tables;
  std::string json;
};

struct TableDraft {
  // Replaces texts of the tables that are keys by their values. A text that many records use is
  // stored here once.
  std::map<std::string, std::string> long_texts;
  std::vector<DraftProgram> programs;
  std::vector<DraftTarget> targets;
  std::vector<DraftBlob> blobs;
  std::vector<base::Bytes> frames;

  [[nodiscard]] const std::string& text(const std::string& name) const;
  // Stores the bytes uncompressed.
  std::uint32_t add_stored(base::Bytes raw);
  // Stores the bytes as a separate zstd frame.
  std::uint32_t add_compressed(base::ByteView raw);
  std::uint32_t add_target(format::Target target);
};

// Returns the match key of PTX for `architecture`, the same as for `sample_ptx` with this number.
[[nodiscard]] std::uint64_t ptx_match_key(unsigned architecture);

// Sorts and names everything as clbin(5) specifies, and computes the digests.
[[nodiscard]] base::Bytes write_tables(TableDraft draft);

} // namespace clbin::test
