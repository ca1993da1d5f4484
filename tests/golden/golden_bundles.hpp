// The bundles in tests/golden/v1: how each was made. They may be made again until format 1 is
// frozen, by golden_generator; never after.
#pragma once

#include "base/byte_codec.hpp"

#include <string>
#include <utility>
#include <vector>

namespace clbin::test {

// File name and bytes. The bytes depend on libzstd's version.
[[nodiscard]] std::vector<std::pair<std::string, base::Bytes>> golden_bundles();

} // namespace clbin::test
