// Device binaries that killed the process are not tried for ever: a marker, named by payload and
// device, is held during an attempt; one that says so but is not held tells of a death.
#pragma once

#include "base/digest.hpp"
#include "cache/cache_folder.hpp"
#include "cache/cache_settings.hpp"

#include <optional>
#include <string>

namespace clbin::cache {

enum class AttemptVerdict : std::uint8_t { go, quarantined };

// What lasts as long as an attempt: destroying it says that the process has survived, unless the
// bytes are with the driver. Its file stays for the next attempt, and goes some time after 30 days
// without one.
class AttemptMarker {
public:
  AttemptMarker() = default;
  AttemptMarker(LockedFile file, std::vector<TimePoint> deaths);
  ~AttemptMarker();
  AttemptMarker(AttemptMarker&& other) noexcept;
  AttemptMarker& operator=(AttemptMarker&& other) noexcept;

  // The driver gets the bytes now. Until take_back() a destructor proves nothing: a panic of Rust
  // that leaves rusticl unwinds our frames, runs their destructors, and then ends the process.
  void hand_over() noexcept { m_is_with_driver = true; }
  // The driver has answered, or has thrown what C++ can catch.
  void take_back() noexcept { m_is_with_driver = false; }

private:
  void finish() noexcept;
  std::optional<LockedFile> m_file;
  std::vector<TimePoint> m_deaths; // earlier ones, to be remembered
  bool m_is_with_driver = false;
};

struct AttemptPermit {
  AttemptVerdict verdict = AttemptVerdict::go;
  std::string reason;  // of a quarantine, a sentence for the report
  std::string warning; // no marker could be set; the attempt may be made all the same
  AttemptMarker marker;
};

// Two deaths within a day quarantine a payload on a device for 30 days. Another driver version is
// another identity, and so lifts it. Two processes that attempt the same at the same time: the
// first holds the marker. Thread-safe.
class Quarantine {
public:
  explicit Quarantine(CacheSettings settings);

  [[nodiscard]] AttemptPermit begin(const base::Digest& payload,
                                    const base::Digest& identity) const;

private:
  // What a marker that is new does to those of long ago.
  enum class IfNew : std::uint8_t { go_on, remove_old };
  [[nodiscard]] AttemptPermit begin_holding(const CacheFolder& folder, LockedFile file,
                                            IfNew if_new) const;
  CacheSettings m_settings;
};

} // namespace clbin::cache
