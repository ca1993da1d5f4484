// Which payload is compressed against which. Similar binaries (one kernel for six architectures)
// shrink to a fraction when one of them, a "hub", serves the others as zstd prefix.
#pragma once

#include "base/kept_bytes.hpp"
#include "format/binary/binary_kind.hpp"

#include <optional>
#include <span>
#include <vector>

namespace clbin::format {

struct ReferencePayload {
  base::KeptBytes raw;
  BinaryKind kind = BinaryKind::unknown;
};

// How sure the estimate is that the reference saves bytes.
enum class Saving : std::uint8_t { clear, doubtful };

struct ReferenceChoice {
  std::optional<std::size_t> reference; // index of a payload that has none itself
  Saving saving = Saving::clear;
};

// One choice for each payload, as a function of the payloads in the order given: give them in the
// order of their digests, and it is one of the set. Compresses each payload at a fast level at most
// 17 times, and none that is alone of its kind. Holds one or two payloads in memory at
// once. Any error of compression, or of reading the payloads.
[[nodiscard]] base::Result<std::vector<ReferenceChoice>>
choose_references(std::span<const ReferencePayload> payloads);

} // namespace clbin::format
