// The command line, as data.
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
  std::optional<Size> size;                   // none: each kernel's own
  std::optional<unsigned> repeat;             // none: adapted to the kernel's speed
  LeastLaunches least_launches = LeastLaunches::three;
  std::optional<std::uint64_t> seed; // none: a fresh one
  std::optional<std::filesystem::path> plot;
  OutputFormat format = OutputFormat::table;
  LoadFrom load_from = LoadFrom::bundle;
};

// command_line: unknown option, missing or bad value.
[[nodiscard]] Result<Options> parse_options(const std::vector<std::string>& words);

// "MxNxL", or "N" for NxNxN.
[[nodiscard]] Result<Size> parse_size(const std::string& text);

[[nodiscard]] std::string help_text();

} // namespace runtime_demo
