// Numbers for humans.
#pragma once

#include <string>

namespace runtime_demo {

// Returns about three significant digits: "45699", "53.2", "0.0096"; "3.1e-05" below a thousandth,
// "-" for 0.
[[nodiscard]] std::string readable_number(double value);

} // namespace runtime_demo
