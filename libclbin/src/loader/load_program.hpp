// What next? Walks the ladder for one or several devices and keeps the report.
#pragma once

#include "base/result.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "loader/program_cache.hpp"
#include "matching/candidate_ranking.hpp"
#include "opencl/program_build.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace clbin::loader {

enum class FallbackPolicy : std::uint8_t { never = 0, if_needed = 1, always = 2 };

// Where a program came from. Numbers are those of clbin_origin in clbin.h.
enum class Origin : std::uint8_t { none = 0, entry = 1, user_cache = 2, il = 3, source = 4 };

enum class Decision : std::uint8_t {
  loaded = 0,        // the attempt that was chosen
  refused = 1,       // handed to the driver, which refused
  not_attempted = 2, // by rule; `reason` says which
  unreadable = 3,    // the bundle's bytes for it are damaged: no byte reached the driver
  accepted = 4,      // proved alone for its device, on the way to a program for several devices
  recompiled = 5,    // accepted, but the driver did not use it: it built the IR beside it
};

// What an attempt was made by. Numbers are those of clbin_rule in clbin.h.
enum class AttemptRule : std::uint8_t {
  none = 0, // the bundle's tables could not be read
  exact_identity = 1,
  compatible = 2,
  il = 3,
  not_compatible = 4,
  user_cache = 5,
  recompiled = 6,
  several_devices = 7,
  source = 8,
};
// "exact identity", "compatible", "IL", "not compatible", "user cache", "recompiled", "several
// devices", "source", ""; null-terminated.
[[nodiscard]] std::string_view to_string(AttemptRule rule) noexcept;
[[nodiscard]] AttemptRule attempt_rule(matching::Rule rule) noexcept;

// How much of what was *not* done goes into the report. Telling every entry's verdict reads the
// whole group, so it is never done on an exact hit.
enum class ReportDetail : std::uint8_t { attempts_only = 0, every_entry = 1 };

struct Attempt {
  std::uint32_t device = 0;                 // index in the request
  std::uint32_t entry = format::k_no_index; // k_no_index: not one entry of the bundle
  std::string target;                       // what the entry was made for; empty without an entry
  Origin origin = Origin::none;
  Decision decision = Decision::not_attempted;
  AttemptRule rule = AttemptRule::none;
  std::string reason; // a sentence
  std::int32_t cl_code = 0;
  std::string cl_code_name; // "CL_INVALID_BINARY"; empty where no OpenCL call answered
  std::string stage;        // "clBuildProgram"
  std::string driver_log;
  std::uint64_t microseconds = 0; // reading, checking and the driver's answer
};

struct LoadReport {
  std::string program;
  std::string variant;
  Origin origin = Origin::none;
  std::uint32_t first_entry = 0;     // of the variant, among the bundle's
  std::vector<std::string> devices;  // "PLATFORM / DEVICE / DRIVER VERSION", one a device
  std::vector<Attempt> attempts;     // in the order they were made or ruled out
  std::vector<std::string> warnings; // one at most about user cache and quarantine
  std::uint64_t microseconds = 0;
};

struct LoadRequest {
  std::string program;
  std::string variant;
  // Known only at run time. If the variant's options followed by these are those of another variant
  // of the program, that variant is loaded. Otherwise no entry fits, and the user cache keeps what
  // was built.
  std::string extra_options;
  // Of SPIR-V: then only the user cache and IL serve, since neither entry nor source knows them.
  std::vector<opencl::SpecializationConstant> constants;
  FallbackPolicy fallback = FallbackPolicy::if_needed;
  ReportDetail detail = ReportDetail::every_entry;
  std::vector<cl_device_id> devices; // at least one, each once, all of the context
  std::function<void(const Attempt&)>
      on_attempt; // called as attempts are made, on the caller's thread
};

// The caller owns the program. On failure `report` tells each attempt all the same.
//
// One device: entries made for it, the user cache, compatible entries best first, IL where the
// device takes it, source; what IL or source gave is handed to the queue of stores. An entry that
// the driver recompiles from IR counts as built from IL: it serves where no other binary does.
// Several: each device's binary is proved alone, then all are created together; where a device has
// none, source for all, of which each device's binary goes to the queue of stores; where the driver
// refuses them together, source for all, and nothing is kept.
//
// Policies other than if_needed leave the user cache alone. An entry that ended the process twice
// within a day is not attempted.
//
// invalid_argument (a device that is not of the context, or twice), no_such_program,
// no_such_variant, no_matching_entry (policy never), binary_refused (policy never, or no source;
// where entries are in quarantine too), no_source, unsafe_options (recorded_options.hpp),
// build_failed (the message holds the build log), several_devices_refused, opencl_call, and the
// reader's errors where nothing else served.
[[nodiscard]] base::Result<opencl::Program>
load_program(const opencl::Driver& driver, const format::BundleReader& bundle, ProgramCache& cache,
             cl_context context, const LoadRequest& request, LoadReport& report);

// "loaded", "refused", "not attempted", …; "entry", "user cache", "il", "source", "none".
[[nodiscard]] std::string_view to_string(Decision decision) noexcept;
[[nodiscard]] std::string_view to_string(Origin origin) noexcept;

// The report as JSON, in the schema that clbin_report_json (clbin.h) documents.
[[nodiscard]] std::string report_json(const LoadReport& report);

// Several lines for people, one an attempt; a driver's log is indented under its attempt.
[[nodiscard]] std::string describe(const LoadReport& report);

} // namespace clbin::loader
