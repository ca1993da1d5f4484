// Limits that the caller of a reader sets.
#pragma once

#include <cstdint>

namespace clbin::format {

// Limits of allocations, whatever the file declares.
struct ReadLimits {
  std::uint64_t max_directory_bytes = 64ULL << 20U;
  std::uint64_t max_raw_bytes = 1ULL << 30U; // one payload, source or manifest, decompressed
  // Limits of one call: the raw bytes that it creates, including each use of a reference, and its
  // memory other than payloads. If 0, BundleReader::budget derives them from the size of the
  // bundle.
  std::uint64_t max_total_raw_bytes = 0;
  std::uint64_t max_memory_bytes = 0;
};

// Determines whether bytes may follow the bundle. A file must end with the bundle, but in memory it
// may be part of a larger region.
enum class TrailingBytes : std::uint8_t { refuse, ignore };

} // namespace clbin::format
