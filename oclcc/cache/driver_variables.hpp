// The environment variables by which a driver makes other binaries.
#pragma once

#include "format/device_identity.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

struct Variable {
  std::string name;
  std::string value;
  friend bool operator==(const Variable&, const Variable&) = default;
};

// Those of the process's environment, by name. The first of a name counts, as for getenv.
[[nodiscard]] std::vector<Variable> process_environment();

// Those that the compiler of such a device may read. Known by the prefixes that drivers use, since
// their documents never list all of them (PoCL: POCL_EXTRA_BUILD_FLAGS, POCL_MAX_WORK_GROUP_SIZE;
// Oclgrind: OCLGRIND_BUILD_OPTIONS; IGC's flags): one too many costs a build, one too few a wrong
// binary. Without those that only say where caches are or which devices show, and without those
// that every worker gets from oclcc.
[[nodiscard]] std::vector<Variable> driver_variables(const std::vector<Variable>& environment,
                                                     clbin::format::DeviceFamily family);

} // namespace oclcc
