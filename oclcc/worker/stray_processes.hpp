// Finds programs that drivers started and that left the process group of their worker. setsid()
// moves a program out of the group, and the death of its parent makes it a child of another
// process.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace oclcc::worker {

// The environment of each worker contains the path of its home under this name, and programs that a
// driver starts inherit it. A program started with an empty environment is not found.
inline constexpr const char* k_home_variable = "OCLCC_WORKER_HOME";

// Makes this process the parent of orphans of its workers, or undoes it.
enum class Adoption : std::uint8_t { off, on };
void adopt_strays(Adoption adoption) noexcept;

// Whether this process has no child other than `known`: then its workers left no orphan. False if
// the system does not list children.
[[nodiscard]] bool has_no_child_but(pid_t known) noexcept;

// Ends every process whose environment contains `home`, until there is none. Reads the environments
// of all processes of the user.
void end_strays(const std::string& home) noexcept;

} // namespace oclcc::worker
