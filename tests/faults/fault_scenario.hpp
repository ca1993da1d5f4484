// The rules of a scenario file: which faults to inject, and when.
//
// Each line is a rule: a fault, then KEY=VALUE words. "Quotes" enclose blanks, and \n and \"
// are escapes within them. '#' begins a comment.
//
//   answer  at=FUNCTION name=CL_… value=TEXT   clGetDeviceInfo, clGetPlatformInfo: another text
//   reverse at=FUNCTION                        clGetPlatformIDs, clGetDeviceIDs, clGetContextInfo:
//                                              in reverse order; clGetProgramInfo: binaries too
//   refuse  style=STYLE [code=CODE]            clCreateProgramWithBinary, as some driver rejects
//   fail    at=FUNCTION code=CODE [log=TEXT]   does not call the driver; `log` is the build log
//   crash   at=FUNCTION [signal=SIGSEGV]       or SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGKILL
//   panic   at=FUNCTION                        unwinds the caller, as a Rust panic in a driver does
//   hang    at=FUNCTION                        for ever
//   allocate at=FUNCTION bytes=N               allocates N bytes, and never frees them
//   scribble at=FUNCTION file=N hex=BYTES      writes to an open file that is not the driver's
//   lose-kernel kernel=NAME                    removes it from the program's names; create fails
//   hide-kernel-names                          CL_PROGRAM_KERNEL_NAMES fails
//   cut-binary bytes=N                         the program returns only N bytes (0: none)
//   build-log text=TEXT                        the log of a build that succeeds
//
// If several faults apply to one call, those that let it continue happen first. The order is:
// allocate, scribble, crash, panic, hang, fail.
//
// Styles of refusal (doc/drivers.md, "Read in sources"): `honest` (NULL, error, status error),
// `null-success` (NULL, all report success), `status-success` (NULL, error, status success),
// `unwritten-status` (NULL, error, status untouched), `program-with-error` (a program, error,
// status error), `last-status` (a program, status of the first device an error, error code of the
// last device).
//
// Keys that restrict a rule: call=N, call=N- or call=N-M (counted in each process, among the calls
// that match the rest of the rule), platform=TEXT and device=TEXT (parts of the real names),
// origin=binary|source|il (of the program), source=TEXT (part of the text that
// clCreateProgramWithSource gets).
#pragma once

#include "base/result.hpp"

#include <CL/cl.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clbin::faults {

enum class Call : std::uint8_t {
  get_platform_ids,
  get_platform_info,
  get_device_ids,
  get_device_info,
  create_context,
  get_context_info,
  create_program_with_source,
  create_program_with_binary,
  create_program_with_il,
  build_program,
  compile_program,
  link_program,
  get_program_info,
  get_program_build_info,
  create_kernel,
  create_kernels_in_program,
  enqueue_nd_range_kernel,
  release_program,
};
// "clBuildProgram"
[[nodiscard]] std::string_view to_string(Call call) noexcept;

enum class Fault : std::uint8_t {
  answer,
  reverse,
  refuse,
  fail,
  crash,
  panic,
  hang,
  allocate,
  scribble,
  lose_kernel,
  hide_kernel_names,
  cut_binary,
  build_log,
};
[[nodiscard]] std::string_view to_string(Fault fault) noexcept;

enum class RefusalStyle : std::uint8_t {
  honest,
  null_success,
  status_success,
  unwritten_status,
  program_with_error,
  last_status,
};
[[nodiscard]] std::string_view to_string(RefusalStyle style) noexcept;

enum class ProgramOrigin : std::uint8_t { unknown, source, binary, il };
[[nodiscard]] std::string_view to_string(ProgramOrigin origin) noexcept;

struct Rule {
  unsigned line = 0; // of the scenario, from 1
  Fault fault = Fault::fail;
  std::optional<Call> call; // of faults with at=
  std::optional<RefusalStyle> style;
  std::optional<cl_int> code;
  std::optional<cl_uint> info_name;
  std::optional<std::string> text; // value=, text=, log=
  std::optional<std::string> kernel;
  std::optional<std::uint64_t> bytes;
  int signal_number = 0;
  int file = -1;
  std::string written; // decoded hex=

  std::uint64_t first_call = 1;
  std::uint64_t last_call = std::numeric_limits<std::uint64_t>::max();
  std::string platform; // empty: any
  std::string device;   // empty: any
  std::string source;   // empty: any
  std::optional<ProgramOrigin> origin;
};

// Errors: invalid_argument, with the line: "line 3: 'crash' needs at=FUNCTION".
[[nodiscard]] base::Result<std::vector<Rule>> parse_scenario(std::string_view text);

} // namespace clbin::faults
