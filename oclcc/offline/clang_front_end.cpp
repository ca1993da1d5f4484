#include "offline/clang_front_end.hpp"

#include "offline/source_files.hpp"
#include "offline/text_lines.hpp"
#include "offline/tool_process.hpp"

#include "opencl/cl_error.hpp"

#include <algorithm>

namespace oclcc::offline {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

constexpr std::string_view k_own_header = "./language.clh:"; // of nvptx

bool is_message(std::string_view line) {
  constexpr std::string_view k_parts[] = {
      ": note: ", ": warning: ", ": error: ", ": fatal error: ", " generated."};
  return line.starts_with("In file included from ") ||
         std::any_of(std::begin(k_parts), std::end(k_parts), [&](std::string_view part) {
           return line.find(part) != std::string_view::npos;
         });
}

// Notes in a header of oclcc, such as "expanded from macro 'printf'", and the lines of code behind
// them, which the user cannot look up.
std::string without_notes_of_ours(std::string_view log) {
  std::string kept;
  bool is_ours = false;
  while (!log.empty()) {
    const std::string_view line = take_line(log);
    is_ours = line.starts_with(k_own_header) || (is_ours && !is_message(line));
    if (!is_ours) {
      kept += line;
      kept += '\n';
    }
  }
  return kept;
}

// The first error of a tool's output, or its last line.
std::string_view reason_in(std::string_view output) {
  constexpr std::size_t k_max_bytes = 300;
  std::string_view last;
  while (!output.empty()) {
    const std::string_view line = trimmed(take_line(output));
    if (line.find("error") != std::string_view::npos ||
        line.find("fatal") != std::string_view::npos) {
      return line.substr(0, k_max_bytes);
    }
    last = line.empty() ? last : line;
  }
  return last.substr(0, k_max_bytes);
}

} // namespace

Result<bool> run_front_end(const ToolSession& session, const FrontEndCall& call,
                           BuildReply& reply) {
  // -cc1, because clang's driver searches for CUDA, and adds what it finds.
  std::vector<std::string> arguments = {"-cc1"};
  arguments.insert(arguments.end(), call.words.begin(), call.words.end());
  arguments.insert(arguments.end(), call.options.begin(), call.options.end());
  // -fgnu89-inline, because drivers find the body of an inline function that is not inlined.
  arguments.insert(arguments.end(),
                   {"-fgnu89-inline", "-finclude-default-header", "-fdeclare-opencl-builtins",
                    "-cl-kernel-arg-info", "-ferror-limit", "19", "-nostdsysteminc", "-I",
                    k_header_folder, "-x", "cl", k_main_file});
  CLBIN_TRY_ASSIGN(const ToolRun run, session.run("clang", arguments));
  reply.log += without_notes_of_ours(run.output);
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
    const std::string_view reason = reason_in(run.output);
    return fail(ErrorCode::internal, "{} ended with {}{}{}", tool, run.exit_status,
                reason.empty() ? ", without a message" : ": ", reason);
  }
  return {};
}

} // namespace oclcc::offline
