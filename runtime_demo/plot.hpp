// Measurements as an SVG drawing.
#pragma once

#include "measurement.hpp"

#include <span>
#include <string>

namespace runtime_demo {

// For each device two panels of labelled horizontal bars: GFLOPS a kernel, and time to the first
// result from source (hatched) and from the bundle (solid). What did not pass is left out.
[[nodiscard]] std::string svg_plot(std::span<const Measurement> measurements);

} // namespace runtime_demo
