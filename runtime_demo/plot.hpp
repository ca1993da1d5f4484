// Measurements as an SVG drawing.
#pragma once

#include "measurement.hpp"

#include <span>
#include <string>

namespace runtime_demo {

// Draws two panels of labelled horizontal bars for each device: GFLOPS per kernel, and the time to
// the first result from source (hatched) and from the bundle (solid). Omits measurements that did
// not pass.
[[nodiscard]] std::string svg_plot(std::span<const Measurement> measurements);

} // namespace runtime_demo
