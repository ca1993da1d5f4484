// Entries of device binaries that oclcc did not compile, from what the binaries say of themselves.
#pragma once

#include "format/binary/binary_kind.hpp"
#include "model/bundle.hpp"
#include "terminal/reporter.hpp"

namespace oclcc::offline {

// Returns the offline target that a binary of kind ptx, cubin, amd_code_object, intel_zebin or
// spirv names, as entries record it: "nvptx:sm_70", "cubin:sm_90a", "amdgcn:gfx90a:xnack-",
// "intel:tgllp", "spirv:1.2". It is not necessarily one of known_targets. std::nullopt for another
// kind, and if the binary contains no architecture, or one that known_targets does not name.
[[nodiscard]] std::optional<format::Target> target_of_binary(const format::BinaryInfo& info);

// Returns an entry of the default variant, without a target, with the kernels and specialization
// constants in `payload`. Binaries of kinds without a reader (binary_kernels.hpp) have none. Safe
// on untrusted input. Errors: damaged, if the binary is, or has no kernel; those of the readers,
// and of require_resolved for SPIR-V.
[[nodiscard]] Result<format::EntryInput> entry_of_binary(base::KeptBytes payload);

// Removes the NUL that NVIDIA's driver appends to PTX, and that ptxas rejects.
void remove_final_nul(format::BinaryKind kind, base::Bytes& bytes);

} // namespace oclcc::offline
