// The state of one load, which the rungs of the ladder share.
#pragma once

#include "cache/cache_recipe.hpp"
#include "loader/load_program.hpp"
#include "loader/recorded_options.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// An IL entry that a device supports.
struct IlModule {
  matching::Candidate candidate;
  base::Result<base::Digest> content; // of the bytes, whose stored digest was checked
  base::Digest payload;               // payload_digest()
  base::Bytes bytes;                  // of the first readable module, otherwise empty
};

// Identifies source or IL that the caller supplies at run time.
struct RunTimeKey {
  std::string subject;                        // see cache::Recipe; without the device
  std::vector<cache::Ingredient> ingredients; // of what is built and its options
  std::string_view text;                      // whose lines a miss is explained by; empty: by none
  std::string why_none; // why no key identifies it, as a sentence; otherwise empty
};

// Borrows everything. Exists only during one load or build, on one thread.
struct LoadSession {
  const opencl::Driver& driver;
  const format::BundleReader* bundle; // null: `run_time` replaces it
  ProgramCache& cache;
  cl_context context;
  const LoadRequest& request;
  LoadReport& report;
  format::GroupView group;
  std::vector<format::DeviceIdentity> identities; // one per device of the request
  cache::CacheOnPocl on_pocl = cache::CacheOnPocl::no;
  const RunTimeKey* run_time = nullptr; // null: what is built is in the bundle
  // Examines the text. Returns true if `run_time` was an assumption and has changed. Call it after
  // the look-up of `run_time` failed, and before something is stored under it. Null if `run_time`
  // is final.
  const std::function<bool()>* confirm_key = nullptr;
  // Why the user cache must not contain what is built, as a sentence; null or empty: it may.
  const std::string* why_uncached = nullptr;
  mutable std::optional<base::Result<format::SourcePackage>> read_source{}; // set by source()
  mutable std::map<std::uint32_t, std::vector<IlModule>> read_il{};         // set by il_modules()
  mutable bool is_report_full = false;
  // For the whole load.
  mutable format::ReadBudget budget =
      bundle == nullptr ? format::ReadBudget::for_bundle(0) : bundle->budget();
  mutable OptionsChecker options_checker{};
  // Memory for the report, in addition to the budget, so that a large report never prevents the use
  // of source.
  mutable std::uint64_t report_bytes_left = budget.memory_limit() / 4;

  void record(Attempt attempt) const;
  // Returns whether the report has room for an entry that was not attempted. Adds a warning the
  // first time that it has none.
  [[nodiscard]] bool has_room_for(const Attempt& attempt) const;

  // Adds a warning about the caches to the report. Ignores further ones, because a problem usually
  // recurs.
  void warn_of_cache(const std::string& warning) const;
  // Returns the source; the first call reads it. no_source, and the errors of the reader.
  [[nodiscard]] const base::Result<format::SourcePackage>& source() const;
  // Returns the options for building source: those of the variant, then those of the request.
  [[nodiscard]] std::string source_options() const;
};

} // namespace clbin::loader
