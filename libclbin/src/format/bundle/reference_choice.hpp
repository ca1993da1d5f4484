// Chooses the reference of each payload. Similar binaries (one kernel for six architectures) shrink
// to a fraction if one of them, a "hub", is the zstd prefix of the others.
#pragma once

#include "base/file_io.hpp"
#include "format/binary/binary_kind.hpp"

#include <optional>
#include <span>
#include <vector>

namespace clbin::format {

struct ReferencePayload {
  base::KeptBytes raw;
  BinaryKind kind = BinaryKind::unknown;
};

// Certainty of the estimate that the reference saves bytes.
enum class Saving : std::uint8_t { clear, doubtful };

struct ReferenceChoice {
  std::optional<std::size_t> reference; // index of a payload without a reference
  Saving saving = Saving::clear;
};

// Returns one choice for each payload. The choices depend on the order of the payloads; if it is
// that of their digests, the choices depend only on the set. Compresses each payload at most 17
// times at a fast level, and does not compress the only payload of a kind. Keeps one or two
// payloads in memory at a time. Errors: any error of compression, or of reading the payloads.
[[nodiscard]] base::Result<std::vector<ReferenceChoice>>
choose_references(std::span<const ReferencePayload> payloads);

} // namespace clbin::format
