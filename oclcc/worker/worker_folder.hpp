// A worker's folders, under names that are the same for every worker: drivers write them into
// binaries.
#pragma once

namespace oclcc::worker {

inline constexpr const char* k_current_folder = "/proc/self/cwd";
inline constexpr const char* k_pocl_folder = "/proc/self/cwd/pocl";
inline constexpr const char* k_cache_folder = "/proc/self/cwd/cache";
inline constexpr const char* k_temporary_folder = "/proc/self/cwd/tmp";
inline constexpr const char* k_vendors_folder = "/proc/self/cwd/vendors";

} // namespace oclcc::worker
