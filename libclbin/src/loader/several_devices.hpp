// Loads one program for several devices of a context.
#pragma once

#include "loader/entry_attempts.hpp"

#include <string>
#include <vector>

namespace clbin::loader {

struct TogetherOutcome {
  opencl::Program program; // null if `why_not` is not empty
  std::string why_not;     // why the devices cannot share a program, as an unfinished sentence
};

// Creates one program from binaries that were accepted one by one, in the order of the devices.
[[nodiscard]] TogetherOutcome create_together(const LoadSession& session,
                                              const std::vector<ProvedEntry>& entries);
// Returns user_cache if all entries are from there, otherwise entry.
[[nodiscard]] Origin common_origin(const std::vector<ProvedEntry>& entries);

// Checks the binary of each device alone, then creates one program from all of them. If a device
// has no binary, or the driver rejects the binaries together, builds source for all devices. In the
// first case, stores the binaries of that device and the following ones in the user cache.
// `why_no_entry` states why only the user cache can have binaries; it is empty if entries can, too.
// Errors as load_program.
[[nodiscard]] base::Result<opencl::Program> load_for_several(const LoadSession& session,
                                                             const std::string& why_no_entry);

} // namespace clbin::loader
