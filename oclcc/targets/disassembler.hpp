// Assembly for people, of device binaries, by the programs that know their instructions.
#pragma once

#include "format/binary/binary_kind.hpp"
#include "targets/tools.hpp"

namespace oclcc::offline {

// Returns the rows of programs for all kinds of binaries.
[[nodiscard]] std::vector<ToolRow> disassembly_tools();

// Whether a program is known for the kind.
[[nodiscard]] bool can_disassemble(format::BinaryKind kind);

// Returns the text of the program for the kind of `binary`, with lines of the source if the binary
// contains them; of PTX, the text that it is. If `kernel` is not empty, only that of the kernel.
// `given`, of --tool, replace what is searched for; `timeout` is for one run. Thread-safe.
//
// The programs read untrusted input, may crash, and may print anything.
// Errors: no_matching_entry, if no program is known for the kind, or there is no such kernel;
// no_device, with the package to install, if a program is missing; damaged; those of ToolSession.
[[nodiscard]] Result<std::string> disassemble(base::ByteView binary, const std::string& kernel,
                                              const ToolPaths& given,
                                              const worker::WorkerSettings& settings,
                                              std::chrono::seconds timeout);

} // namespace oclcc::offline
