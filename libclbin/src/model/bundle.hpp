// The contents of a bundle before they are encoded.
#pragma once

#include "base/file_io.hpp"
#include "model/device.hpp"
#include "model/kernel.hpp"
#include "model/source.hpp"

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
void visit(Is<BuildReply> auto& reply, const auto& member) {
  auto& [cl_code, stage, log, error, binary, kernels, tools] = reply;
  member("cl_code", cl_code);
  member("stage", stage);
  member("log", log);
  member("error", error);
  member("binary", binary);
  member("kernels", kernels);
  member("tools", tools);
}

struct VariantInput {
  std::string name;    // "default" if not named
  std::string options; // used by the source fallback
};
void visit(Is<VariantInput> auto& variant, const auto& member) {
  auto& [name, options] = variant;
  member("name", name);
  member("options", options);
}

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
void visit(Is<RecordedLaunch> auto& launch, const auto& member) {
  auto& [variant, kernel, dimensions, local_size, has_offset] = launch;
  member("variant", variant);
  member("kernel", kernel);
  member("dimensions", dimensions);
  member("local_size", local_size);
  member("has_offset", has_offset);
}

// A build that an application was seen to make, whether or not the bundle contains its binary.
struct RecordedBuild {
  std::string variant;
  Target target;
  std::vector<std::string> kernels; // ascending
  friend bool operator==(const RecordedBuild&, const RecordedBuild&) = default;
};
void visit(Is<RecordedBuild> auto& build, const auto& member) {
  auto& [variant, target, kernels] = build;
  member("variant", variant);
  member("target", target);
  member("kernels", kernels);
}

struct ProgramInput {
  std::string name; // the stem of the file name
  std::optional<SourcePackage> source;
  std::vector<VariantInput> variants; // at least one; names unique
  std::vector<EntryInput> entries;
  // Of a recording, in any order; duplicates are written once.
  std::vector<RecordedLaunch> launches{};
  std::vector<RecordedBuild> builds{};
};
void visit(Is<ProgramInput> auto& program, const auto& member) {
  auto& [name, source, variants, entries, launches, builds] = program;
  member("name", name);
  member("source", source);
  member("variants", variants);
  member("entries", entries);
  member("launches", launches);
  member("builds", builds);
}

struct BundleInput {
  std::string producer;               // "oclcc 0.1.0"
  std::vector<ProgramInput> programs; // names unique
};

inline constexpr std::string_view k_default_variant = "default";

} // namespace clbin::format
