// One line of a compiler's log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace oclcc {

// Where a compiler says that something is: under the name that its driver gave the file.
struct LogPosition {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0; // 0: not told
};

// A remark reports what a compiler did ("Kernel was 16-way vectorized"): no complaint.
enum class LogSeverity : std::uint8_t { remark, note, warning, error };

struct LogMessage {
  LogSeverity severity = LogSeverity::error;
  std::optional<LogPosition> position;
  std::optional<LogPosition> spelling; // PoCL: where the macro's text stands
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

// "In file included from input.cl:1:"
[[nodiscard]] std::optional<LogPosition> parse_included_from(std::string_view line);

// "    ~~^~~", as clang writes it below a source line.
[[nodiscard]] bool is_caret_line(std::string_view line);
// A source line as it follows a message: without clang 17's "    3 | ".
[[nodiscard]] std::string_view strip_line_number(std::string_view line);

} // namespace oclcc
