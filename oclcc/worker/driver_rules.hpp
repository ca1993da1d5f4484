// What is different for each driver: how the binary of a unit is kept independent of previous units
// and of this machine, and how it gets the code of the first launch. No other file knows it.
#pragma once

#include "listing/launch_compilation.hpp"

#include <set>

namespace oclcc::worker {

// The working directory of a worker and the folders in it, by names that are the same for every
// worker. Each system has such names.
extern const char* const k_current_folder;
extern const char* const k_pocl_folder;
extern const char* const k_cache_folder;
extern const char* const k_temporary_folder;
extern const char* const k_vendors_folder;

// Returns whether drivers of `family` write PWD into binaries. Only they find k_current_folder in
// it; PWD of any other driver is the real working directory.
// Measured: Oclgrind 21.10 writes PWD into every binary, PoCL 3.1 with -g, rusticl 22.3 and Intel's
// CPU runtime 2026.2 never. Intel's stores embedded headers under PWD but searches the real working
// directory: with another name in PWD it does not find "m.h" for an include in "x/n.h".
[[nodiscard]] constexpr bool writes_working_directory(clbin::format::DeviceFamily family) noexcept {
  return family == clbin::format::DeviceFamily::oclgrind ||
         family == clbin::format::DeviceFamily::pocl;
}

enum class UnitIsolation : std::uint8_t {
  context, // each unit gets a context
  copy,    // each unit gets a context in a fork of a process that only built a trivial program
  process, // each unit gets a worker
};

// Returns `process` for an unknown driver: its units are independent, but each starts the driver
// once.
[[nodiscard]] UnitIsolation unit_isolation(const clbin::format::DeviceIdentity& identity) noexcept;

// What a process builds before it is copied, so that its copies find a compiler that is loaded.
enum class WarmUp : std::uint8_t {
  source, // affects the bytes of what the process and its copies build later
  il,     // affects no bytes
};

// Depends on what the device supports.
[[nodiscard]] WarmUp warm_up_for(const clbin::format::DeviceIdentity& identity);

using clbin::format::GroupSize;
using clbin::listing::needs_specialization;

// One pass of creating a binary, with an environment variable set.
struct BinaryPass {
  std::string purpose; // "while specializing for large grids"
  std::string variable;
  std::string value;
};

// Returns the passes of creating a binary, in order. Each pass requires a process that has not
// created a binary before; all passes share a cache directory. The binary of the last pass contains
// the code of all passes. Empty unless needs_specialization(family).
// `offset_sizes` are those of `sizes` with which launches have a global offset.
[[nodiscard]] std::vector<BinaryPass> first_launch_passes(clbin::format::DeviceFamily family,
                                                          const std::set<GroupSize>& sizes,
                                                          const std::set<GroupSize>& offset_sizes);

// Returns a valid module of SPIR-V 1.0 for 64-bit devices, with one kernel, `warm_up`, which has no
// parameters and does nothing. Its bytes are static.
[[nodiscard]] clbin::base::ByteView warm_up_module() noexcept;

} // namespace oclcc::worker
