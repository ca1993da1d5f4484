// What the caller of a reader allows.
#pragma once

#include <cstdint>

namespace clbin::format {

// What a reader agrees to allocate for, whatever the file declares.
struct ReadLimits {
  std::uint64_t max_directory_bytes = 64ULL << 20U;
  std::uint64_t max_raw_bytes = 1ULL << 30U; // one payload, source or manifest, decompressed
  // Of one call: the raw bytes that it makes, a reference each time; the memory that it takes
  // besides payloads. 0: BundleReader::budget works them out from the size of the bundle.
  std::uint64_t max_total_raw_bytes = 0;
  std::uint64_t max_memory_bytes = 0;
};

// Whether bytes may follow the bundle: not in a file, but in memory it may lie in a larger region.
enum class TrailingBytes : std::uint8_t { refuse, ignore };

} // namespace clbin::format
