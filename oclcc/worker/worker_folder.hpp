// Directories of a worker. Their names are the same for every worker, because drivers write them
// into binaries.
#pragma once

#include "model/device.hpp"

namespace oclcc::worker {

inline constexpr const char* k_current_folder = "/proc/self/cwd";
inline constexpr const char* k_pocl_folder = "/proc/self/cwd/pocl";
inline constexpr const char* k_cache_folder = "/proc/self/cwd/cache";
inline constexpr const char* k_temporary_folder = "/proc/self/cwd/tmp";
inline constexpr const char* k_vendors_folder = "/proc/self/cwd/vendors";

// Returns whether drivers of `family` write PWD into binaries. Only they find k_current_folder in
// it; PWD of any other driver is the real working directory.
// Measured: Oclgrind 21.10 writes PWD into every binary, PoCL 3.1 with -g, rusticl 22.3 and Intel's
// CPU runtime 2026.2 never. Intel's stores embedded headers under PWD but searches the real working
// directory: with another name in PWD it does not find "m.h" for an include in "x/n.h".
[[nodiscard]] constexpr bool writes_working_directory(clbin::format::DeviceFamily family) noexcept {
  return family == clbin::format::DeviceFamily::oclgrind ||
         family == clbin::format::DeviceFamily::pocl;
}

} // namespace oclcc::worker
