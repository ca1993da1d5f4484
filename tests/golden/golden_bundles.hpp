// The bundles in tests/golden/v1: how each was made. Format 1 is frozen: the files stay as they
// are. Where a later writer makes other bytes of the same contents, its bundle is compared no more.
#pragma once

#include "base/byte_codec.hpp"

#include <string>
#include <utility>
#include <vector>

namespace clbin::test {

// File name and bytes. The bytes depend on libzstd's version.
[[nodiscard]] std::vector<std::pair<std::string, base::Bytes>> golden_bundles();

} // namespace clbin::test
