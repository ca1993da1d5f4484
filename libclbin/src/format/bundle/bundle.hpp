// The contents of a bundle before they are encoded.
#pragma once

#include "base/kept_bytes.hpp"
#include "format/binary/binary_kind.hpp"
#include "format/binary/kernel_reflection.hpp"
#include "format/binary/spec_constant.hpp"
#include "format/bundle/source_package.hpp"
#include "format/identity/device_identity.hpp"

#include <array>
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace clbin::format {

// One device binary to be written.
struct EntryInput {
  std::string variant; // a name in ProgramInput::variants
  Target target;
  std::string options;     // the options of the build that made the binary
  base::KeptBytes payload; // not empty
  std::vector<KernelReflection> kernels;
  std::string build_log;
  std::map<std::string, std::string> tools; // "ptxas" → "13.0.88"
  std::vector<SpecConstant> spec_constants{};
};

struct VariantInput {
  std::string name;    // "default" if not named
  std::string options; // used by the source fallback
};

// A launch that an application was seen to make, while its builds were recorded.
struct RecordedLaunch {
  std::string variant;
  std::string kernel;
  std::uint32_t dimensions = 0; // 1, 2 or 3
  // Work-items; 1 for a dimension that the launch does not have. All 0: the application passed
  // NULL, and the driver chose.
  std::array<std::uint64_t, 3> local_size{};
  friend auto operator<=>(const RecordedLaunch&, const RecordedLaunch&) = default;
};

// A build that an application was seen to make, whether or not the bundle contains its binary.
struct RecordedBuild {
  std::string variant;
  Target target;
  std::vector<std::string> kernels; // ascending
  friend bool operator==(const RecordedBuild&, const RecordedBuild&) = default;
};

struct ProgramInput {
  std::string name; // the stem of the file name
  std::optional<SourcePackage> source;
  std::vector<VariantInput> variants; // at least one; names unique
  std::vector<EntryInput> entries;
  // Of a recording, in any order; duplicates are written once.
  std::vector<RecordedLaunch> launches{};
  std::vector<RecordedBuild> builds{};
};

struct BundleInput {
  std::string producer;               // "oclcc 0.1.0"
  std::vector<ProgramInput> programs; // names unique
};

inline constexpr std::string_view k_default_variant = "default";

} // namespace clbin::format
