#include "offline/clang_front_end.hpp"

#include "offline/source_files.hpp"
#include "offline/tool_process.hpp"

#include "opencl/cl_error.hpp"

namespace oclcc::offline {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

Result<bool> run_front_end(const ToolSession& session, const FrontEndCall& call,
                           BuildReply& reply) {
  // -cc1, because clang's driver searches for CUDA, and adds what it finds.
  std::vector<std::string> arguments = {"-cc1"};
  arguments.insert(arguments.end(), call.words.begin(), call.words.end());
  arguments.insert(arguments.end(), call.options.begin(), call.options.end());
  // -fgnu89-inline, because drivers find the body of an inline function that is not inlined.
  arguments.insert(arguments.end(),
                   {"-fgnu89-inline", "-finclude-default-header", "-fdeclare-opencl-builtins",
                    "-cl-kernel-arg-info", "-nostdsysteminc", "-I", k_header_folder, "-x", "cl",
                    k_main_file});
  CLBIN_TRY_ASSIGN(const ToolRun run, session.run("clang", arguments));
  reply.log += run.output;
  if (run.exit_status == 0) {
    return true;
  }
  reply.cl_code = CL_BUILD_PROGRAM_FAILURE;
  reply.stage = "clang";
  return false;
}

Result<void> run_step(const ToolSession& session, std::string_view tool,
                      const std::vector<std::string>& arguments) {
  CLBIN_TRY_ASSIGN(const ToolRun run, session.run(tool, arguments));
  if (run.exit_status != 0) {
    return fail(ErrorCode::internal, "{} ended with {}: {}", tool, run.exit_status,
                trimmed(run.output));
  }
  return {};
}

} // namespace oclcc::offline
