// Where the cache is and how much it may hold: read from the environment once, by whoever opens a
// cache, and passed down.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace clbin::cache {

// A process that runs with rights which its user does not have (setuid, setgid, capabilities) must
// not believe that user's environment.
enum class Rights : std::uint8_t { plain, elevated };

// What the settings are made from; tests pass their own.
struct ProcessEnvironment {
  std::function<std::optional<std::string>(const char* name)> variable;
  Rights rights = Rights::plain;
  // Of the effective user, from the password database; empty where it has none. Asked for by
  // elevated processes only.
  std::function<std::filesystem::path()> account_home;
};
[[nodiscard]] ProcessEnvironment this_process();

enum class CacheUse : std::uint8_t { on, off };

struct CacheSettings {
  static constexpr std::uint64_t k_default_max_bytes = 512ULL << 20U;

  CacheUse use = CacheUse::off;
  std::string why_off = "no cache was asked for";
  // For the report, empty if none: no home, a size that is none.
  std::string warning;
  std::filesystem::path folder; // absolute
  // Of each cache of the folder (the user cache, the compile cache). 0: nothing is stored.
  std::uint64_t max_bytes = k_default_max_bytes;
  // How long to wait for another process that builds the same program.
  std::chrono::milliseconds wait_limit{10'000};
  // The clock and the sleep of everything here; tests pass their own.
  std::function<std::chrono::system_clock::time_point()> now;
  std::function<void(std::chrono::milliseconds)> pause;

  // CLBIN_CACHE=0 turns the cache off. CLBIN_CACHE_DIR is its folder, else $XDG_CACHE_HOME/clbin,
  // else $HOME/.cache/clbin. CLBIN_CACHE_MAX_SIZE is a number of bytes, or one with K, M, G or T
  // (powers of 1024). An elevated process reads none of these: its folder is below the home of the
  // effective user. Never fails: what cannot be used turns the cache off, with a warning.
  [[nodiscard]] static CacheSettings from_environment(const ProcessEnvironment& environment);
};

} // namespace clbin::cache
