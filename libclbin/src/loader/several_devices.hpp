// One program for several devices of a context.
#pragma once

#include "loader/load_session.hpp"

namespace clbin::loader {

// Proves each device's binary alone, then creates all together; where a device has none, or the
// driver refuses them together, source for all; in the first case each device's binary is then kept
// in the user cache. `why_no_entry`, where it is not empty, says why the user cache alone can have
// binaries. Errors as load_program.
[[nodiscard]] base::Result<opencl::Program> load_for_several(const LoadSession& session,
                                                             const std::string& why_no_entry);

} // namespace clbin::loader
