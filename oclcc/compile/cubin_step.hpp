// --emit-cubin: a cubin beside the PTX of each NVIDIA device.
#pragma once

#include "compile/compile_job.hpp"
#include "offline/ptxas.hpp"

namespace oclcc {

// Assembles the PTX of every unit that was built: Job::cubins. A unit whose PTX ptxas refuses is
// failed, with what it said. Nothing to do, and no ptxas needed, where no unit made PTX.
// no_device: there is no ptxas; file_write: no temporary folder.
[[nodiscard]] clbin::base::Result<void> add_cubins(Job& job, const Options& options,
                                                   const std::filesystem::path& temporary);

} // namespace oclcc
