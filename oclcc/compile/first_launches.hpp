// Which kernels compile at their first launch, because a binary has no code for their work-groups.
#pragma once

#include "compile/compile_job.hpp"
#include "terminal/reporter.hpp"

#include "format/bundle.hpp"
#include "format/device_identity.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace oclcc {

// The names of those of `kernels`, which are all of one binary, that a driver of `family` compiles
// at their first launch whatever the size of its work-groups; empty for drivers that do not
// specialize. std::nullopt if nothing but the kernels' names is known.
[[nodiscard]] std::optional<std::vector<std::string>>
kernels_compiled_at_launch(clbin::format::DeviceFamily family,
                           std::span<const clbin::format::KernelReflection> kernels);

// With -v: a note for each program and device with such kernels, with the options that avoid it.
void note_first_launches(const Job& job, Reporter& reporter);

} // namespace oclcc
