// Input: a build log, a zero byte, and the text of the main file. Parsing accepts any log, and may
// ignore parts of it.
#include "fuzz_check.hpp"
#include "terminal/diagnostics.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = input.find('\0');
  const std::string log = input.substr(0, zero);
  clbin::format::SourcePackage package;
  package.main = {"k.cl", "src/k.cl", zero == std::string::npos ? "" : input.substr(zero + 1)};
  package.headers.push_back({"sub/a.h", "src/sub/a.h", "#line 7 \"b.h\"\nint x;\n"});
  auto diagnostics = oclcc::parse_build_log(log, package);
  for (const oclcc::Diagnostic& diagnostic : diagnostics) {
    clbin::fuzz::require(!diagnostic.file.empty(), "a compiler's message has a file");
    clbin::fuzz::require(diagnostic.source_line.find('\n') == std::string::npos,
                         "a source line is one line");
    clbin::fuzz::require(diagnostic.devices.empty(), "a log names no devices");
  }
  const std::size_t count = diagnostics.size();
  const auto merged = oclcc::merge_diagnostics(diagnostics);
  clbin::fuzz::require(merged.size() <= count, "merging adds nothing");
  oclcc::apply_warning_policy(diagnostics, oclcc::WarningPolicy::make_errors);
  for (const oclcc::Diagnostic& diagnostic : diagnostics) {
    clbin::fuzz::require(diagnostic.severity != oclcc::Severity::warning, "no warning is left");
  }
  return 0;
}
