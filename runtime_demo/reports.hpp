// Measurements as text.
#pragma once

#include "devices.hpp"
#include "measurement.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace runtime_demo {

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

} // namespace runtime_demo
