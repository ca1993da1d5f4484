// What next? Walks the ladder for one or several devices and keeps the report.
#pragma once

#include "base/result.hpp"
#include "format/bundle_reader.hpp"
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
};

// How much of what was *not* done goes into the report. Telling every entry's verdict reads the
// whole group, so it is never done on an exact hit.
enum class ReportDetail : std::uint8_t { attempts_only = 0, every_entry = 1 };

struct Attempt {
  std::uint32_t device = 0;                 // index in the request
  std::uint32_t entry = format::k_no_index; // k_no_index: not one entry, but source or several
  std::string target;                       // what the entry was made for; empty without an entry
  Origin origin = Origin::none;
  Decision decision = Decision::not_attempted;
  std::string rule;   // "exact identity", "compatible", "several devices", "source"
  std::string reason; // a sentence
  std::int32_t cl_code = 0;
  std::string stage; // "clBuildProgram"
  std::string driver_log;
  std::uint64_t microseconds = 0; // reading, checking and the driver's answer
};

struct LoadReport {
  std::string program;
  std::string variant;
  Origin origin = Origin::none;
  std::vector<std::string> devices; // "PLATFORM / DEVICE / DRIVER VERSION", one a device
  std::vector<Attempt> attempts;    // in the order they were made or ruled out
  std::vector<std::string> warnings;
  std::uint64_t microseconds = 0;
};

struct LoadRequest {
  std::string program;
  std::string variant;
  std::string extra_options; // known only at run time: then no recorded entry fits, source is built
  FallbackPolicy fallback = FallbackPolicy::if_needed;
  ReportDetail detail = ReportDetail::every_entry;
  std::vector<cl_device_id> devices; // at least one, each once, all of the context
  std::function<void(const Attempt&)>
      on_attempt; // called as attempts are made, on the caller's thread
};

// The caller owns the program. On failure `report` tells each attempt all the same.
//
// One device: candidates best first, then source. Several: each device's binary is proved alone,
// then all are created together; where a device has none, or the driver refuses them together,
// source for all.
//
// invalid_argument (a device that is not of the context, or twice), no_such_program,
// no_such_variant, no_matching_entry (policy never), binary_refused (policy never), no_source,
// build_failed (the message holds the build log), several_devices_refused, opencl_call, and the
// reader's errors where nothing else served.
[[nodiscard]] base::Result<opencl::Program>
load_program(const opencl::Driver& driver, const format::BundleReader& bundle, cl_context context,
             const LoadRequest& request, LoadReport& report);

// Several lines for people, one an attempt; a driver's log is indented under its attempt.
[[nodiscard]] std::string describe(const LoadReport& report);

} // namespace clbin::loader
