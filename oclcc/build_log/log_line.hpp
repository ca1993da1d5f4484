// Parses one line of a build log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace oclcc {

// A position in a build log, with the driver's name of the file.
struct LogPosition {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0; // 0 if unknown
};

// A remark reports an action of the compiler ("Kernel was 16-way vectorized"), not a problem.
enum class LogSeverity : std::uint8_t { remark, note, warning, error };

struct LogMessage {
  LogSeverity severity = LogSeverity::error;
  std::optional<LogPosition> position;
  std::optional<LogPosition> spelling; // PoCL: the position of the macro's text
  std::string text;
};

// The formats known, measured or documented:
//   clang (Oclgrind, rusticl, NVIDIA, AMD, Intel)   input.cl:3:10: error: text
//   PoCL                                            error: /cache/x.cl:3:10: text
//                                                   error: x.cl:3:10 <Spelling=x.cl:1:21>: text
//   Intel's CPU runtime                             remark: <unknown>:0:0: text
//   a driver itself                                 error: text
//   ptxas                                           ptxas fatal   : text
//   SPIR-V linker (rusticl)                         (file=input,line=0,column=0,index=0): text
// Nothing for any other line.
[[nodiscard]] std::optional<LogMessage> parse_log_line(std::string_view line);

// Parses "In file included from input.cl:1:".
[[nodiscard]] std::optional<LogPosition> parse_included_from(std::string_view line);

// "    ~~^~~", as clang writes it below a source line.
[[nodiscard]] bool is_caret_line(std::string_view line);
// Returns a source line of the log without clang 17's "    3 | ".
[[nodiscard]] std::string_view strip_line_number(std::string_view line);

} // namespace oclcc
