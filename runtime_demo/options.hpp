// The parsed command line.
#pragma once

#include "bundle_programs.hpp"
#include "kernel_catalog.hpp"
#include "measurement.hpp"
#include "result.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace runtime_demo {

enum class Mode : std::uint8_t { run, list, help, version };
enum class OutputFormat : std::uint8_t { table, json };

struct Options {
  Mode mode = Mode::run;
  std::vector<std::filesystem::path> bundles; // empty: those built with the demo
  std::vector<std::string> kernels;           // empty: all
  std::vector<std::string> devices;           // empty: all
  std::optional<Size> size;                   // std::nullopt: the default size of each kernel
  std::optional<unsigned> repeat;             // std::nullopt: adapted to the speed of the kernel
  RunLimits limits;
  std::optional<std::uint64_t> seed; // std::nullopt: a new one
  std::optional<std::filesystem::path> plot;
  OutputFormat format = OutputFormat::table;
  LoadFrom load_from = LoadFrom::bundle;
};

// command_line: an option is unknown, or a value is missing or invalid.
[[nodiscard]] Result<Options> parse_options(const std::vector<std::string>& words);

// Parses "MxNxL", or "N" for NxNxN.
[[nodiscard]] Result<Size> parse_size(const std::string& text);

[[nodiscard]] std::string help_text();

} // namespace runtime_demo
