// Runs clang on OpenCL C, in the same way for every family.
#pragma once

#include "offline/offline_compiler.hpp"
#include "offline/option_rules.hpp"

#include <string>
#include <vector>

namespace oclcc::offline {

struct FrontEndCall {
  std::vector<std::string> words; // of the target and the action: "-triple", "-emit-llvm-bc", "-o"
  std::vector<std::string> options; // compiler_words of the unit
};

// Compiles the session's main file. Returns whether clang succeeded; its messages go to the reply's
// log, and a failure sets the reply's code. Errors as for run_tool.
[[nodiscard]] clbin::base::Result<bool> run_front_end(const ToolSession& session,
                                                      const FrontEndCall& call, BuildReply& reply);

// Runs a later step of a compile. internal, with the tool's first error or its last line, if it
// failed.
[[nodiscard]] clbin::base::Result<void> run_step(const ToolSession& session, std::string_view tool,
                                                 const std::vector<std::string>& arguments);

} // namespace oclcc::offline
