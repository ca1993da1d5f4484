// The last rung of the ladder: source.
#pragma once

#include "loader/load_session.hpp"

#include <string>

namespace clbin::loader {

// Builds the source of the group for all devices of the request. `reason` states why
// source is built. no_source, build_failed, opencl_call, the errors of the reader; unsafe_options:
// see recorded_options.hpp.
[[nodiscard]] base::Result<opencl::Program> build_source(const LoadSession& session,
                                                         std::string reason);

} // namespace clbin::loader
