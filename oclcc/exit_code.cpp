#include "exit_code.hpp"

namespace oclcc {

ExitCode exit_code_of(clbin::base::ErrorCode code) noexcept {
  using clbin::base::ErrorCode;
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
    return ExitCode::not_a_bundle;
  case ErrorCode::no_opencl:
  case ErrorCode::no_device:
  case ErrorCode::opencl_call:
  case ErrorCode::binary_refused:
  case ErrorCode::several_devices_refused:
    return ExitCode::no_device;
  case ErrorCode::out_of_memory:
  case ErrorCode::internal:
  case ErrorCode::build_failed:
    break;
  }
  return ExitCode::compile_failed;
}

} // namespace oclcc
