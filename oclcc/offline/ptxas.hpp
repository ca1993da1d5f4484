// NVIDIA's assembler: PTX into a cubin, which the driver loads without compiling it.
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

// In PATH, else where NVIDIA's own packages put it. no_device: there is none, with the package
// that has it. Leaves no file in `folder`, which must be one for temporary files; several threads
// must not share it.
[[nodiscard]] clbin::base::Result<Ptxas> find_ptxas(const std::filesystem::path& folder,
                                                    std::chrono::seconds timeout);

// `architecture` is the device's: "sm_90". internal, with what ptxas printed: it refused the PTX,
// crashed or hung. file_write, file_read: the files in `folder`.
[[nodiscard]] clbin::base::Result<clbin::base::Bytes>
assemble(const Ptxas& ptxas, clbin::base::ByteView ptx, const std::string& architecture,
         const std::filesystem::path& folder, std::chrono::seconds timeout);

} // namespace oclcc::offline
