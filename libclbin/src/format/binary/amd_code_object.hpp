// AMD's ELF code objects and the names of its targets.
#pragma once

#include "format/binary/binary_kind.hpp"
#include "format/binary/elf_object.hpp"

#include <optional>
#include <string>

namespace clbin::format {

// `object` is an ELF file of machine k_elf_machine_amdgpu. BinaryKind::unknown unless it is for HSA
// (what ROCm loads); a code object of version 2, or of a processor not known here, has no
// architecture.
[[nodiscard]] BinaryInfo read_amd_code_object(const ElfObject& object);

// "gfx90a:sramecc+:xnack-", "gfx9-4-generic". Features are named when they are on or off.
[[nodiscard]] std::string amd_target_name(const BinaryInfo& info);

// The opposite: arch_* and features of a target id as a driver gives it; features it does not name
// are `unsupported`. Nothing for any other text.
[[nodiscard]] std::optional<BinaryInfo> parse_amd_target(std::string_view name);

// The generic target whose code objects run on a processor ({9, 0} for gfx906); nothing where there
// is none. `info` tells the processor by arch_*.
[[nodiscard]] std::optional<BinaryInfo> amd_generic_target(const BinaryInfo& info);

} // namespace clbin::format
