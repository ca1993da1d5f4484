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
// Those of tests/golden/measured_v1, with the section RANKING of format 1.2.
[[nodiscard]] std::vector<std::pair<std::string, base::Bytes>> measured_bundles();
// Those of tests/golden/packs_v1: a base with the sections PACK and REQUIREMENT and a recorded
// launch, and its packs.
[[nodiscard]] std::vector<std::pair<std::string, base::Bytes>> split_bundles();
// Those of tests/golden/answers_v1, with known answers in the manifest.
[[nodiscard]] std::vector<std::pair<std::string, base::Bytes>> answered_bundles();

} // namespace clbin::test
