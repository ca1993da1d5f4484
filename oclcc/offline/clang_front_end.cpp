#include "offline/clang_front_end.hpp"

#include "base/file_io.hpp"
#include "offline/source_files.hpp"
#include "offline/text_lines.hpp"
#include "offline/tool_process.hpp"

#include "opencl/driver.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace oclcc::offline {

using clbin::base::Bytes;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

bool is_message(std::string_view line) {
  constexpr std::string_view k_parts[] = {
      ": note: ", ": warning: ", ": error: ", ": fatal error: ", " generated."};
  return line.starts_with("In file included from ") ||
         std::any_of(std::begin(k_parts), std::end(k_parts), [&](std::string_view part) {
           return line.find(part) != std::string_view::npos;
         });
}

// Drops notes in the call's own header, such as "expanded from macro 'printf'", and the lines of
// code behind them, which the user cannot look up.
std::string without_notes_of(const std::string& header, std::string_view log) {
  const std::string start = fmt::format("./{}:", header);
  std::string kept;
  bool is_ours = false;
  while (!log.empty()) {
    const std::string_view line = take_line(log);
    is_ours = line.starts_with(start) || (is_ours && !is_message(line));
    if (!is_ours) {
      kept += line;
      kept += '\n';
    }
  }
  return kept;
}

constexpr std::string_view k_has_typed_pointers = "typed pointers";
constexpr std::string_view k_has_opaque_pointers = "opaque pointers";

// Returns the first error if it names no place, as those do that are not about the source: "error:
// unknown argument: '-x'".
std::string_view error_without_place(std::string_view log) {
  while (!log.empty()) {
    const std::string_view line = take_line(log);
    for (const std::string_view beginning : {"error: ", "fatal error: "}) {
      if (line.starts_with(beginning)) {
        return line.substr(beginning.size());
      }
    }
    if (line.find(": error: ") != std::string_view::npos ||
        line.find(": fatal error: ") != std::string_view::npos) {
      break;
    }
  }
  return {};
}

} // namespace

std::string ClangRelease::name(std::string_view tool) const {
  return fmt::format("{}-{}", tool, version);
}

Result<Bytes> ask_for_typed_pointers(const ToolSession& session) {
  CLBIN_TRY(clbin::base::write_output_file(session.folder() / "empty.cl", {}));
  CLBIN_TRY_ASSIGN(
      const ToolRun run,
      session.run("clang", {"-cc1", "-fsyntax-only", k_typed_pointers, "-x", "cl", "empty.cl"}));
  const auto answer =
      clbin::base::as_bytes(run.exit_status == 0 ? k_has_typed_pointers : k_has_opaque_pointers);
  return Bytes(answer.begin(), answer.end());
}

Result<bool> has_typed_pointers(const std::filesystem::path& shared) {
  constexpr std::uint64_t k_max_bytes = 1024;
  CLBIN_TRY_ASSIGN(const auto answer, clbin::base::read_whole_file(shared, k_max_bytes));
  return clbin::base::as_text(answer) == k_has_typed_pointers;
}

Result<std::vector<std::string>> unit_words(const std::vector<std::string>& options,
                                            std::span<const OptionRule> rules,
                                            const OfflineTarget& target, BuildReply& reply) {
  CLBIN_TRY_ASSIGN(CompilerWords words, compiler_words(options, rules, spelling_of(target)));
  for (const std::string& warning : words.warnings) {
    reply.log += fmt::format("warning: {}\n", warning);
  }
  return std::move(words.words);
}

Result<bool> run_front_end(const ToolSession& session, const FrontEndCall& call,
                           BuildReply& reply) {
  // -cc1, because clang's driver searches for CUDA, and adds what it finds.
  std::vector<std::string> arguments = {"-cc1"};
  arguments.insert(arguments.end(), call.words.begin(), call.words.end());
  arguments.insert(arguments.end(), call.options.begin(), call.options.end());
  if (!call.own_header.empty()) {
    arguments.insert(arguments.end(), {"-include", call.own_header});
  }
  // -fgnu89-inline, because drivers find the body of an inline function that is not inlined.
  arguments.insert(arguments.end(),
                   {"-fgnu89-inline", "-finclude-default-header", "-fdeclare-opencl-builtins",
                    "-cl-kernel-arg-info", "-ferror-limit", "19", "-nostdsysteminc", "-I",
                    k_header_folder, "-x", "cl", k_main_file});
  CLBIN_TRY_ASSIGN(const ToolRun run, session.run("clang", arguments));
  const std::string_view own_error =
      run.exit_status == 0 ? std::string_view() : error_without_place(run.output);
  if (!own_error.empty()) {
    return fail(ErrorCode::internal, "'{}' does not accept what oclcc passes to it: {}",
                session.path("clang").string(), own_error);
  }
  reply.log += call.own_header.empty() ? run.output : without_notes_of(call.own_header, run.output);
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
    return fail(ErrorCode::internal, "{}", failure_text(tool, run));
  }
  return {};
}

} // namespace oclcc::offline
