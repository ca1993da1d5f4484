// Environment variables that change the binaries of a driver or of an offline compiler.
#pragma once

#include "model/device.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

struct Variable {
  std::string name;
  std::string value;
  friend bool operator==(const Variable&, const Variable&) = default;
};

// Returns the environment of the process, sorted by name. The first variable of a name applies, as
// for getenv.
[[nodiscard]] std::vector<Variable> process_environment();

// Returns the variables that the compiler of such a device may read. They are recognized by the
// prefixes of the drivers, because the drivers' documents list them incompletely (PoCL:
// POCL_EXTRA_BUILD_FLAGS, POCL_MAX_WORK_GROUP_SIZE; Oclgrind: OCLGRIND_BUILD_OPTIONS; IGC's flags).
// One variable too many costs a build, one too few a wrong binary. Excludes variables that only
// select cache directories or visible devices, and variables that oclcc sets for every worker.
[[nodiscard]] std::vector<Variable> driver_variables(const std::vector<Variable>& environment,
                                                     clbin::format::DeviceFamily family);

// Whether a variable of driver_variables() or tool_variables() chooses libraries of the compiler.
// Such values are paths of one machine.
[[nodiscard]] bool chooses_libraries(const Variable& variable);

// Returns the variables that the compilers of an offline target of this family may read: those of
// driver_variables, because ocloc reads IGC_ForceOCLSIMDWidth, and those of clang, lld and
// llvm-spirv, such as CCC_OVERRIDE_OPTIONS.
[[nodiscard]] std::vector<Variable> tool_variables(const std::vector<Variable>& environment,
                                                   clbin::format::DeviceFamily family);

// Returns the name of a variable by which the environment loads libraries into every compiler, such
// as LD_PRELOAD. Another machine may have other libraries at the same paths. std::nullopt if there
// is none.
[[nodiscard]] std::optional<std::string>
unshared_variable(const std::vector<Variable>& environment);

} // namespace oclcc
