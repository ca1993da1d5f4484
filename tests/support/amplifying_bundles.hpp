// Small bundles that cost a careless reader much memory or time, with valid digests. There is one
// kind for each field of the tables and the manifest that can be amplified.
#pragma once

#include "base/byte_codec.hpp"
#include "model/device.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace clbin::test {

struct AmplifyingKind {
  std::string_view name;
  base::Bytes (*make)(std::uint32_t scale);
};

// The amplified part grows with `scale`: 1 and 4 show whether a cost is linear. All contain the
// program "p" with the variant "default", unless these names are amplified. The bytes are the same
// in every run.
[[nodiscard]] std::span<const AmplifyingKind> amplifying_kinds();

// The device of their entries.
[[nodiscard]] format::DeviceIdentity amplified_device();

} // namespace clbin::test
