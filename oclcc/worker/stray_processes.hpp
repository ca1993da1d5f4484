// Programs that drivers started and that left their worker's process group: setsid() takes a
// program out of it, and the death of its parent makes it another one's child.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace oclcc::worker {

// The environment of each worker holds the path of its home under this name, and what a driver
// starts inherits it. Only a program that was started with an emptied environment is not found.
inline constexpr const char* k_home_variable = "OCLCC_WORKER_HOME";

// Makes this process the parent of what its workers leave behind, or no longer.
enum class Adoption : std::uint8_t { off, on };
void adopt_strays(Adoption adoption) noexcept;

// Whether this process has no child besides `known`: then its workers left nothing behind. False if
// the system does not list children.
[[nodiscard]] bool has_no_child_but(pid_t known) noexcept;

// Ends every process of the system whose environment names `home`, until there is none. Takes as
// long as it takes to read the environments of all processes of the user.
void end_strays(const std::string& home) noexcept;

} // namespace oclcc::worker
