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

// Which devices there are, and what the random operands are.
[[nodiscard]] std::string preamble(const std::vector<Device>& devices, std::uint64_t seed);
[[nodiscard]] std::string table_header();
[[nodiscard]] std::string table_row(const Measurement& measurement);
// What the columns mean.
[[nodiscard]] std::string table_footnotes();
// "24 passed, 1 failed, 0 expected to fail (a driver's own bug), 2 skipped"
[[nodiscard]] std::string summary(std::span<const Measurement> measurements);

// The fastest of sgemm's variants on each device; empty where none was measured.
[[nodiscard]] std::string best_variants(std::span<const Measurement> measurements);
// The lecture's table of MFLOPS, what it reported beside what was measured here; empty where none
// of its kernels was.
[[nodiscard]] std::string lecture_table(std::span<const Measurement> measurements);
// The blog's speed-ups over a serial CPU, from source and from the bundle; likewise.
[[nodiscard]] std::string blog_table(std::span<const Measurement> measurements);

} // namespace runtime_demo
