// Loads one program for several devices of a context.
#pragma once

#include "loader/load_session.hpp"

namespace clbin::loader {

// Checks the binary of each device alone, then creates one program from all of them. If a device
// has no binary, or the driver rejects the binaries together, builds source for all devices. In the
// first case, stores the binaries of that device and the following ones in the user cache.
// `why_no_entry` states why only the user cache can have binaries; it is empty if entries can, too.
// Errors as load_program.
[[nodiscard]] base::Result<opencl::Program> load_for_several(const LoadSession& session,
                                                             const std::string& why_no_entry);

} // namespace clbin::loader
