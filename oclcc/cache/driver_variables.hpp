// Environment variables that change the binaries of a driver.
#pragma once

#include "format/identity/device_identity.hpp"

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

// Whether a variable of driver_variables() chooses libraries between oclcc and the driver. Such
// values are paths of one machine.
[[nodiscard]] bool chooses_libraries(const Variable& variable);

} // namespace oclcc
