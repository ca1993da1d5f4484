// The directory and the size limit of the cache. Whoever opens a cache reads them from the
// environment once and passes them on.
#pragma once

#include "base/digest.hpp"
#include "base/file_io.hpp"

#include <chrono>

namespace clbin::cache {

// Names of base/ in all of cache/.
using base::Bytes;
using base::ByteView;
using base::Digest;
using base::Error;
using base::ErrorCode;
using base::fail;
using base::FileDescriptor;
using base::Result;

// A process that has rights that its user does not have (setuid, setgid, capabilities) must not
// trust the environment of that user.
enum class Rights : std::uint8_t { plain, elevated };

// The inputs of the settings. Tests supply their own.
struct ProcessEnvironment {
  std::function<std::optional<std::string>(const char* name)> variable;
  Rights rights = Rights::plain;
  // Returns the home directory of the effective user from the password database; empty if it has
  // none. Called only in elevated processes.
  std::function<std::filesystem::path()> account_home;
};
[[nodiscard]] ProcessEnvironment this_process();

enum class CacheUse : std::uint8_t { on, off };

// Whether the user cache serves PoCL, which has a cache of its own, for source of run time.
enum class CacheOnPocl : std::uint8_t { no, yes };

// PoCL's own cache, which POCL_KERNEL_CACHE=0 turns off.
enum class PoclCache : std::uint8_t { off, on };

struct CacheSettings {
  static constexpr std::uint64_t k_default_max_bytes = 512ULL << 20U;

  CacheUse use = CacheUse::off;
  std::string why_off = "no cache was requested";
  // For the report: there is no home directory, or a size is invalid. Empty if there is none.
  std::string warning;
  std::filesystem::path folder; // absolute
  CacheOnPocl on_pocl = CacheOnPocl::no;
  PoclCache of_pocl = PoclCache::on;
  // Limit for each cache in the directory (the user cache, the compile cache). 0: nothing is
  // stored.
  std::uint64_t max_bytes = k_default_max_bytes;
  // How long to wait for another process that builds the same program.
  std::chrono::milliseconds wait_limit{10'000};
  // The clock and the sleep function of the caches. Tests supply their own.
  std::function<std::chrono::system_clock::time_point()> now;
  std::function<void(std::chrono::milliseconds)> pause;

  // CLBIN_CACHE=0 turns the cache off; CLBIN_CACHE_POCL=1 or 0 sets `on_pocl`. The directory is
  // CLBIN_CACHE_DIR, otherwise $XDG_CACHE_HOME/clbin, otherwise $HOME/.cache/clbin; on
  // Windows, %LOCALAPPDATA%/clbin/cache.
  // CLBIN_CACHE_MAX_SIZE is a number of bytes, or a number followed by K, M, G or T (powers of
  // 1024). An elevated process reads none of these: its directory is below the home of the
  // effective user. Never fails: without a usable directory, the cache is off, with a warning; an
  // invalid size leads to a warning and the default.
  [[nodiscard]] static CacheSettings
  from_environment(const ProcessEnvironment& environment,
                   CacheOnPocl on_pocl_by_default = CacheOnPocl::no);
  // As from_environment(), for what is in the directory: a cache that is off may contain entries.
  [[nodiscard]] static CacheSettings of_folder(const ProcessEnvironment& environment);
};

} // namespace clbin::cache
