// --emit-cubin: creates a cubin in addition to the PTX of each NVIDIA device.
#pragma once

#include "compile/compile_job.hpp"
#include "offline/ptxas.hpp"

namespace oclcc {

// Assembles the PTX of every built unit into Job::cubins. If ptxas rejects the PTX of a unit, the
// unit fails with the message of ptxas. If no unit produced PTX, does nothing and requires no
// ptxas. no_device: there is no ptxas. file_write: the temporary directory cannot be created.
[[nodiscard]] clbin::base::Result<void> add_cubins(Job& job, const Options& options,
                                                   const std::filesystem::path& temporary);

} // namespace oclcc
