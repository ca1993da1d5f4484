// The contents of a bundle before they are encoded.
#pragma once

#include "base/file_io.hpp"
#include "model/device.hpp"
#include "model/measurement.hpp"
#include "model/source.hpp"

#include <set>

namespace clbin::format {

// A device binary, as the manifest describes it.
struct ManifestEntry {
  std::string variant; // a name in ProgramInput::variants
  Target target;
  std::string options;    // the options of the build that made the binary
  std::string raw_digest; // row_digest of the payload, which links the row to it
  std::vector<KernelReflection> kernels;
  std::string build_log;
  std::map<std::string, std::string> tools; // "ptxas" → "13.0.88", "clang build ID" → "740e…"
  std::vector<SpecConstant> spec_constants{};
  friend bool operator==(const ManifestEntry&, const ManifestEntry&) = default;
};
CLBIN_VISIT(ManifestEntry, variant, target, options, raw_digest, kernels, build_log, tools,
            spec_constants);

// One device binary to be written, which sets raw_digest.
struct EntryInput : ManifestEntry {
  base::KeptBytes payload; // not empty
};

// An entry, or why there is none: what a worker answers, caches store, and bundles are made of. The
// unit was built if `error` is empty and `cl_code` is 0. Then `binary` is not empty, unless a
// binary was loaded.
struct BuildReply {
  std::int32_t cl_code = 0; // 0 if built
  std::string stage;
  std::string log;
  std::string error; // a failure outside the compiler
  base::Bytes binary;
  std::vector<KernelReflection> kernels;
  // Versions of the programs that made the binary ("ptxas": "13.0.88"), except oclcc and drivers.
  std::map<std::string, std::string> tools{};
};
CLBIN_VISIT(BuildReply, cl_code, stage, log, error, binary, kernels, tools);

struct VariantInput {
  std::string name;    // "default" if not named
  std::string options; // used by the source fallback
  // What it requires of a device, without duplicates: the names of extensions.
  std::set<std::string> required{};
};
CLBIN_VISIT(VariantInput, name, options, required);

// A launch that an application was seen to make, while its builds were recorded.
struct RecordedLaunch {
  std::string variant;
  std::string kernel;
  std::uint32_t dimensions = 0; // 1, 2 or 3
  // Work-items; 1 for a dimension that the launch does not have. All 0: the application passed
  // NULL, and the driver chose.
  GroupSize local_size{};
  bool has_offset = false; // a global offset other than 0, for which PoCL compiles other code
  friend auto operator<=>(const RecordedLaunch&, const RecordedLaunch&) = default;
};
CLBIN_VISIT(RecordedLaunch, variant, kernel, dimensions, local_size, has_offset);

// A build that an application was seen to make, whether or not the bundle contains its binary.
struct RecordedBuild {
  std::string variant;
  Target target;
  std::vector<std::string> kernels; // ascending
  friend bool operator==(const RecordedBuild&, const RecordedBuild&) = default;
};
CLBIN_VISIT(RecordedBuild, variant, target, kernels);

struct ProgramInput {
  std::string name; // the stem of the file name
  std::optional<SourcePackage> source;
  std::vector<VariantInput> variants; // at least one; names unique
  std::vector<EntryInput> entries;
  // Of a recording, in any order; duplicates are written once.
  std::vector<RecordedLaunch> launches{};
  std::vector<RecordedBuild> builds{};
  std::vector<Measurement> measurements{}; // in any order
  std::vector<KnownAnswer> answers{};      // likewise
  // What the recorded ones name by the digests of their data.
  std::map<std::string, base::KeptBytes> data{};
};
CLBIN_VISIT(ProgramInput, name, source, variants, entries, launches, builds, measurements, answers,
            data);

struct BundleInput {
  std::string producer;               // "oclcc 0.1.0"
  std::vector<ProgramInput> programs; // names unique
};

inline constexpr std::string_view k_default_variant = "default";

} // namespace clbin::format
