// What SPIR-V modules require of a driver, and drivers accept.
#pragma once

#include "base/file_io.hpp"

namespace clbin::format {

// Of a module: what it declares, in its order. Of a device: what it accepts.
struct SpirvFeatures {
  std::vector<std::uint32_t> capabilities;   // numbers of the SPIR-V specification, 3.31
  std::vector<std::string> extensions;       // "SPV_KHR_linkonce_odr"
  std::vector<std::string> instruction_sets; // "OpenCL.std"
  std::uint32_t addressing_model = 0;        // the same, 3.4; 2: Physical64

  friend bool operator==(const SpirvFeatures&, const SpirvFeatures&) = default;
};

// Reads the instructions up to OpMemoryModel, in either byte order. Memory and time are
// proportional to their size. Errors: truncated, damaged.
[[nodiscard]] base::Result<SpirvFeatures> read_spirv_features(base::ByteView module);

// Returns "Float64"; a decimal number for a capability that this version does not know.
[[nodiscard]] std::string spirv_capability_name(std::uint32_t capability);

// Returns the first feature of `required` that `accepted` lacks: "the capability Float64", "the
// extension SPV_KHR_linkonce_odr", "the instruction set OpenCL.std", "the addressing model
// Physical32"; empty if it lacks none.
[[nodiscard]] std::string missing_spirv_feature(const SpirvFeatures& required,
                                                const SpirvFeatures& accepted);

} // namespace clbin::format
