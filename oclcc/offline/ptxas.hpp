// Runs NVIDIA's assembler, which converts PTX to a cubin that the driver loads without compiling.
#pragma once

#include "base/byte_codec.hpp"
#include "base/result.hpp"

#include <chrono>
#include <filesystem>
#include <string>

namespace oclcc::offline {

struct Ptxas {
  std::filesystem::path tool;
  std::string version; // "13.0.88"
};

// Searches PATH, then the directories of NVIDIA's packages. no_device, with the package to install,
// if there is none. `folder` is a directory for temporary files that threads must not share; no
// file remains in it.
[[nodiscard]] clbin::base::Result<Ptxas> find_ptxas(const std::filesystem::path& folder,
                                                    std::chrono::seconds timeout);

// Converts `ptx` for `architecture`, such as "sm_90". internal, with the output of ptxas, if it
// rejected the PTX, crashed or hung. file_write, file_read: files in `folder`.
[[nodiscard]] clbin::base::Result<clbin::base::Bytes>
assemble(const Ptxas& ptxas, clbin::base::ByteView ptx, const std::string& architecture,
         const std::filesystem::path& folder, std::chrono::seconds timeout);

} // namespace oclcc::offline
