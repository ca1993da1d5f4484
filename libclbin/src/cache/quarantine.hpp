// What earlier loads have found of device binaries. The quarantine stops repeated attempts of those
// that ended the process: a marker, named by payload and device, is locked during an attempt, and
// one that records an attempt but is not locked shows that the process died. Verdicts record
// whether a binary computes what is known.
#pragma once

#include "cache/cache_folder.hpp"

namespace clbin::cache {

enum class AttemptVerdict : std::uint8_t { go, quarantined };

// Exists during an attempt. The destructor records that the process has survived, unless the driver
// is still using the bytes. The file is removed some time after 30 days without an attempt.
class AttemptMarker {
public:
  AttemptMarker() = default;
  AttemptMarker(LockedFile file, std::vector<TimePoint> deaths)
      : m_attempt(new Attempt{std::move(file), std::move(deaths)}) {}

  // Call it before the driver receives the bytes. Until take_back(), the destructor does not record
  // a survival: a Rust panic that leaves rusticl unwinds the frames of libclbin, runs their
  // destructors, and then ends the process.
  void hand_over() noexcept { set_with_driver(true); }
  // Call it after the driver has returned, or has thrown an exception that C++ can catch.
  void take_back() noexcept { set_with_driver(false); }

private:
  struct Attempt {
    LockedFile file;
    std::vector<TimePoint> deaths; // earlier ones, which are written back
    bool is_with_driver = false;
  };
  struct Finish {
    void operator()(Attempt* attempt) const noexcept;
  };
  void set_with_driver(bool is_with_driver) noexcept {
    if (m_attempt != nullptr) {
      m_attempt->is_with_driver = is_with_driver;
    }
  }
  std::unique_ptr<Attempt, Finish> m_attempt; // null: no marker
};

struct AttemptPermit {
  AttemptVerdict verdict = AttemptVerdict::go;
  std::string reason;     // of a quarantine, a sentence for the report
  std::string warning;    // no marker could be written; the attempt is allowed nevertheless
  bool is_marked = false; // a marker, possibly of another process, records a crash
  AttemptMarker marker;
};

// Two deaths within a day quarantine a payload on a device for 30 days. Another driver version is
// another identity, and therefore lifts the quarantine. If two processes make the same attempt at
// the same time, the first one locks the marker. Thread-safe.
class Quarantine {
public:
  explicit Quarantine(CacheSettings settings) : m_settings(std::move(settings)) {}

  [[nodiscard]] AttemptPermit begin(const Digest& payload, const Digest& identity) const;

private:
  // Whether a new marker triggers the removal of old ones.
  enum class IfNew : std::uint8_t { go_on, remove_old };
  [[nodiscard]] AttemptPermit begin_holding(const CacheFolder& folder, LockedFile file,
                                            IfNew if_new) const;
  CacheSettings m_settings;
};

// Remembers, by the digest of what was checked, what the check of known answers found. Texts are
// those of the caller, of at most k_max_bytes; longer ones are cut. A verdict that no load has used
// for 30 days is removed. Does nothing if the cache is off. Thread-safe.
class Verdicts {
public:
  static constexpr std::size_t k_max_bytes = 4096;

  explicit Verdicts(CacheSettings settings) : m_settings(std::move(settings)) {}

  // Returns the text; std::nullopt if there is none, or it cannot be read.
  [[nodiscard]] std::optional<std::string> find(const Digest& key) const;
  // Returns a warning; empty if there is none.
  [[nodiscard]] std::string remember(const Digest& key, std::string_view verdict) const;
  // Removes all, also if the cache is off. file_read, file_write: the directory cannot be used.
  [[nodiscard]] Result<void> clear() const;

private:
  CacheSettings m_settings;
};

} // namespace clbin::cache
