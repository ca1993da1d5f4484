#include "terminal/exit_code.hpp"

#include "terminal/reporter.hpp"

namespace oclcc {

ExitCode exit_code_of(ErrorCode code) noexcept {
  switch (code) {
  case ErrorCode::invalid_argument:
  case ErrorCode::no_such_program:
  case ErrorCode::no_such_variant:
  case ErrorCode::no_matching_entry:
  case ErrorCode::no_source:
  case ErrorCode::conflict:
    return ExitCode::command_line;
  case ErrorCode::file_not_found:
  case ErrorCode::file_read:
  case ErrorCode::file_write:
    return ExitCode::file;
  case ErrorCode::not_a_bundle:
  case ErrorCode::truncated:
  case ErrorCode::newer_version:
  case ErrorCode::unknown_required_section:
  case ErrorCode::damaged:
  case ErrorCode::digest_mismatch:
  case ErrorCode::limit_exceeded:
  case ErrorCode::trailing_bytes:
  case ErrorCode::manifest_invalid:
  case ErrorCode::encrypted:
  case ErrorCode::unsafe_options:
  case ErrorCode::not_signed:
  case ErrorCode::untrusted_key:
  case ErrorCode::bad_signature:
  case ErrorCode::old_counter:
  case ErrorCode::wrong_key:
    return ExitCode::not_a_bundle;
  case ErrorCode::no_opencl:
  case ErrorCode::no_device:
  case ErrorCode::opencl_call:
  case ErrorCode::binary_refused:
  case ErrorCode::several_devices_refused:
    return ExitCode::no_device;
  case ErrorCode::build_failed:
    return ExitCode::compile_failed;
  case ErrorCode::out_of_memory:
  case ErrorCode::internal:
    break;
  }
  return ExitCode::internal;
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
