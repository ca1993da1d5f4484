// One load on its way: what the steps of the ladder share.
#pragma once

#include "loader/load_program.hpp"

#include <chrono>
#include <optional>

namespace clbin::loader {

class Stopwatch {
public:
  [[nodiscard]] std::uint64_t microseconds() const {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                          std::chrono::steady_clock::now() - m_start)
                                          .count());
  }

private:
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

// Borrows everything; lives within load_program.
struct LoadSession {
  const opencl::Driver& driver;
  const format::BundleReader& bundle;
  cl_context context;
  const LoadRequest& request;
  LoadReport& report;
  format::GroupView group;
  std::vector<format::DeviceIdentity> identities; // one a device of the request

  void record(Attempt attempt) const;
};

// An entry that its device's driver accepted.
struct ProvedEntry {
  opencl::Program program;
  base::Bytes binary; // only where ForLater::keep_bytes asks
  std::string options;
  std::vector<std::string> kernels;
};

enum class ForLater : std::uint8_t { program_only, keep_bytes };

// What the entries gave for one device: an accepted one, or why none.
struct EntryOutcome {
  std::optional<ProvedEntry> proved;
  bool exact = false;                      // `proved` was made for this very identity
  std::optional<base::Error> first_damage; // an entry that fits could not be read
  std::uint32_t refused = 0;               // by the driver
};

// Rungs 1 and 3 of the ladder (design.md) for one device: hands candidates to the driver, best
// first, until one is accepted.
[[nodiscard]] EntryOutcome try_entries(const LoadSession& session, std::uint32_t device,
                                       ForLater for_later);

// Records, as not attempted, the entries that a device's candidates left over, each with its
// verdict; `fitting_reason` stands for those that would have been attempted.
void explain_entries(const LoadSession& session, std::uint32_t device,
                     const std::string& fitting_reason);

// The last rung: builds the group's source for all devices of the request. `reason` says why it
// came to that. no_source, build_failed, opencl_call, and the reader's errors.
[[nodiscard]] base::Result<opencl::Program> build_source(const LoadSession& session,
                                                         std::string reason);

} // namespace clbin::loader
