// AMD's ELF code objects and their target names.
#pragma once

#include "format/binary/binary_kind.hpp"
#include "format/binary/elf_object.hpp"

#include <optional>
#include <string>

namespace clbin::format {

// `object` must be an ELF file of machine k_elf_machine_amdgpu. Returns BinaryKind::unknown unless
// it is for HSA, which ROCm loads. The architecture is absent for a code object of version 2 or of
// an unknown processor.
[[nodiscard]] BinaryInfo read_amd_code_object(const ElfObject& object);

// Returns a name such as "gfx90a:sramecc+:xnack-" or "gfx9-4-generic", which contains the features
// that are on or off.
[[nodiscard]] std::string amd_target_name(const BinaryInfo& info);

// Reverses amd_target_name for the target id that a driver reports: returns arch_* and features.
// Features that the id does not name are `unsupported`. Returns std::nullopt for any other text.
[[nodiscard]] std::optional<BinaryInfo> parse_amd_target(std::string_view name);

// Returns the generic target whose code objects run on a processor ({9, 0} for gfx906);
// std::nullopt if there is none. `info.arch_*` identify the processor.
[[nodiscard]] std::optional<BinaryInfo> amd_generic_target(const BinaryInfo& info);

} // namespace clbin::format
