// Device binaries that killed the process are not tried for ever: a marker, named by payload and
// device, is held during an attempt; one that is found but not held tells of a death.
#pragma once

#include "base/digest.hpp"
#include "cache/cache_folder.hpp"
#include "cache/cache_settings.hpp"

#include <optional>
#include <string>

namespace clbin::cache {

enum class AttemptVerdict : std::uint8_t { go, quarantined };

// What lasts as long as an attempt: destroying it says that the process has survived.
class AttemptMarker {
public:
  AttemptMarker() = default;
  AttemptMarker(LockedFile file, std::vector<TimePoint> deaths);
  ~AttemptMarker();
  AttemptMarker(AttemptMarker&& other) noexcept;
  AttemptMarker& operator=(AttemptMarker&& other) noexcept;

private:
  void finish() noexcept;
  std::optional<LockedFile> m_file;
  std::vector<TimePoint> m_deaths; // earlier ones, to be remembered
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
  [[nodiscard]] AttemptPermit begin_holding(const CacheFolder& folder, LockedFile file) const;
  CacheSettings m_settings;
};

} // namespace clbin::cache
