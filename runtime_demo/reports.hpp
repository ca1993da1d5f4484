// Measurements as text, as JSON and as a drawing.
#pragma once

#include "devices.hpp"
#include "measurement.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace runtime_demo {

// Returns about three significant digits, for people: "45699", "53.2", "0.0096"; "3.1e-05" below a
// thousandth, "-" for 0.
[[nodiscard]] std::string readable_number(double value);

[[nodiscard]] std::string kernel_list();

// Returns the list of devices and the description of the random operands.
[[nodiscard]] std::string preamble(const std::vector<Device>& devices, std::uint64_t seed);
[[nodiscard]] std::string table_header();
[[nodiscard]] std::string table_row(const Measurement& measurement);
// Returns the meaning of the columns.
[[nodiscard]] std::string table_footnotes();
// Returns "24 passed, 1 failed, 0 expected to fail (a driver's own bug), 2 skipped".
[[nodiscard]] std::string summary(std::span<const Measurement> measurements);

// Returns the fastest sgemm variant on each device; empty if none was measured.
[[nodiscard]] std::string best_variants(std::span<const Measurement> measurements);
// Returns the lecture's table of MFLOPS, with the reported and the measured values; empty if none
// of its kernels was measured.
[[nodiscard]] std::string lecture_table(std::span<const Measurement> measurements);
// Returns the blog's speed-ups over a serial CPU, from source and from the bundle; empty if none of
// its kernels was measured.
[[nodiscard]] std::string blog_table(std::span<const Measurement> measurements);

// One object with "seed", "devices" and "measurements".
[[nodiscard]] std::string json_report(const std::vector<Device>& devices, std::uint64_t seed,
                                      std::span<const Measurement> measurements);

// Draws, as SVG, two panels of labelled horizontal bars for each device: GFLOPS per kernel, and the
// time to the first result from source (hatched) and from the bundle (solid). Omits measurements
// that did not pass.
[[nodiscard]] std::string svg_plot(std::span<const Measurement> measurements);

} // namespace runtime_demo
