#include "terminal/exit_code.hpp"

#include "terminal/reporter.hpp"

namespace oclcc {

ExitCode exit_code_of(ErrorCode code) noexcept {
  switch (code) { // those that differ from the others of their topic
  case ErrorCode::invalid_argument:
    return ExitCode::command_line;
  case ErrorCode::unsafe_options:
    return ExitCode::not_a_bundle;
  case ErrorCode::build_failed:
    return ExitCode::compile_failed;
  default:
    break;
  }
  // The topics are the tens of the codes: of 10, these are oclcc's own errors.
  constexpr ExitCode k_of_topics[] = {
      ExitCode::internal,     ExitCode::internal,  ExitCode::file,        ExitCode::not_a_bundle,
      ExitCode::command_line, ExitCode::no_device, ExitCode::not_a_bundle};
  const auto topic = static_cast<std::size_t>(code) / 10;
  return topic < std::size(k_of_topics) ? k_of_topics[topic] : ExitCode::internal;
}

ExitCode report_errors(std::span<const Error> errors, Reporter& reporter) {
  for (const Error& error : errors) {
    reporter.error(error);
  }
  return errors.empty() ? ExitCode::success : exit_code_of(errors.front().code);
}

ExitCode report_result(const Result<ExitCode>& run, Reporter& reporter) {
  return run ? *run : report_errors({&run.error(), 1}, reporter);
}

ExitCode print_result(std::string_view text, Reporter& reporter) {
  return reporter.print(text) ? ExitCode::success : ExitCode::file;
}

} // namespace oclcc
