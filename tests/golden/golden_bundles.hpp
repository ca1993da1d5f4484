// Makes the bundles in tests/golden/v1. Format 1 is frozen: the files never change. If a later
// writer makes other bytes from the same contents, its bundle is no longer compared.
#pragma once

#include "base/byte_codec.hpp"

#include <string>
#include <utility>
#include <vector>

namespace clbin::test {

// File name and bytes. The bytes depend on libzstd's version.
[[nodiscard]] std::vector<std::pair<std::string, base::Bytes>> golden_bundles();

} // namespace clbin::test
