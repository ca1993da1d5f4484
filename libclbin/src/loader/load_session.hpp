// The state of one load, and its attempts to pass entries, IL or source to the driver.
#pragma once

#include "loader/load_program.hpp"
#include "loader/recorded_options.hpp"

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
  // Examines the text. Returns true if the key was an assumption and has changed. Call it after the
  // look-up of the key failed, and before something is stored under it. Empty if the key is final.
  std::function<bool()> confirm;
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
  const RunTimeKey* run_time = nullptr;           // null: what is built is in the bundle
  // Why the user cache must not contain what is built, as a sentence; null or empty: it may.
  const std::string* why_uncached = nullptr;
  const LoadSession* base = nullptr;                   // of a session of a pack: that of the base
  std::string pack{};                                  // its name
  std::span<const std::vector<PackSet::Pack>> packs{}; // by device, of a base that has them
  // What the variant requires and a device lacks: only entries compiled with it may be attempted.
  std::vector<std::string> lacking{};
  mutable std::optional<base::Result<format::SourcePackage>> read_source{}; // set by source()
  mutable std::map<std::uint32_t, std::vector<IlModule>> read_il{};         // set by il_modules()
  mutable bool is_report_full = false;
  // For the whole load.
  mutable format::ReadBudget budget =
      bundle == nullptr ? format::ReadBudget::for_bundle(0) : bundle->budget();
  mutable OptionsChecker options_checker{};
  // In addition to the budget, so that a large report never prevents the use of source.
  mutable std::uint64_t report_bytes_left = budget.memory_limit() / 4;

  void record(Attempt attempt) const;
  // Returns whether the build succeeded; otherwise the decision is `refused`.
  bool record_build(Attempt attempt, const opencl::BuildOutcome& outcome,
                    const Stopwatch& stopwatch) const;
  // For an entry that was not attempted. Adds a warning the first time that there is no room.
  [[nodiscard]] bool has_room_for(const Attempt& attempt) const;
  // Adds a warning about the caches. Ignores further ones, because a problem usually recurs.
  void warn_of_cache(const std::string& warning) const;

  // The first call reads it. no_source, and the errors of the reader.
  [[nodiscard]] const base::Result<format::SourcePackage>& source() const;
  // Returns the IL that the device supports, best first; the first call for a device reads it.
  // Empty if run-time options require source, whose preprocessor they are for.
  [[nodiscard]] const std::vector<IlModule>& il_modules(std::uint32_t device) const;
  // Those of the variant, then those of the request.
  [[nodiscard]] std::string source_options() const;
};

// Returns those of `required`, the extensions of a variant, that are not among `own`, a device's.
[[nodiscard]] std::vector<std::string> lacking_extensions(const auto& required,
                                                          const std::vector<std::string>& own) {
  std::vector<std::string> lacking;
  std::ranges::copy_if(required, std::back_inserter(lacking), [&](const std::string& name) {
    return std::ranges::find(own, name) == own.end();
  });
  return lacking;
}
// Whether a load that names no variant tries `a` before `b`, of those that require extensions and
// "default": most extensions first, then by name.
[[nodiscard]] bool is_tried_before(const format::GroupView& a, const format::GroupView& b);

// invalid_argument: there is no device, one is not in the context, or twice. opencl_call.
[[nodiscard]] base::Result<void> check_devices(const opencl::Driver& driver, cl_context context,
                                               const LoadRequest& request);
// Returns one identity for each device, and adds their descriptions to the report. opencl_call.
[[nodiscard]] base::Result<std::vector<format::DeviceIdentity>>
query_identities(const opencl::Driver& driver, const LoadRequest& request, LoadReport& report);

// A binary, or IL, to pass to a driver. `attempt` contains what is known of it so far.
struct BinaryToTry {
  enum class Language : std::uint8_t { device_binary, il } language = Language::device_binary;
  Attempt attempt;
  base::Bytes bytes;    // their digest was checked
  base::Digest payload; // payload_digest()
  std::string options;
  std::vector<std::string> kernels;
  bool is_of_series = false; // matching::Candidate::is_of_series
};

// A binary that the driver of its device accepted.
struct Accepted {
  BinaryToTry binary; // without its bytes if the load is for one device
  opencl::Program program;
  bool is_recompiled = false;           // Decision::recompiled
  const LoadSession* session = nullptr; // whose bundle contains the entry
  std::optional<cache::CacheHit> hit{}; // of the user cache, without its payload
};

// by_answers: what it computes is wrong.
enum class Refusal : std::uint8_t { by_driver, by_quarantine, by_answers };

// Passes the binary to the driver, unless it is in quarantine. Records the attempt in every case.
[[nodiscard]] tl::expected<Accepted, Refusal>
try_binary(const LoadSession& session, BinaryToTry binary, const Stopwatch& stopwatch);

[[nodiscard]] Attempt attempt_of(const matching::Candidate& candidate, std::uint32_t device);

// Creates one program from binaries that were accepted one by one, in the order of the devices; of
// one device, returns its program. The error is an unfinished sentence: why they cannot share one.
[[nodiscard]] tl::expected<opencl::Program, std::string>
create_program(const LoadSession& session, std::vector<Accepted>& binaries);
// Its origin: for several devices, user_cache if all binaries are from there, otherwise entry.
[[nodiscard]] Origin common_origin(const std::vector<Accepted>& binaries);

// Builds the source of the group for all devices. `reason` states why. no_source, build_failed,
// opencl_call, the errors of the reader; unsafe_options: see recorded_options.hpp.
[[nodiscard]] base::Result<opencl::Program> build_source(const LoadSession& session,
                                                         std::string reason);

// Returns build_failed: "building WHAT failed: …", and the build log.
[[nodiscard]] tl::unexpected<base::Error> build_error(std::string_view what,
                                                      const opencl::BuildOutcome& outcome);

// Returns a digest of the frame of a payload and the frame of its reference, by their checked
// digests, and of the parameters of their decompression. Excludes the raw digest, which the load
// path does not check. Fails with the errors of BundleReader::blob.
[[nodiscard]] base::Result<base::Digest> payload_digest(const format::BundleReader& bundle,
                                                        std::uint32_t blob);

} // namespace clbin::loader
