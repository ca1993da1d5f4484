// Small bundles that cost a careless reader much memory or time, all digests right: one kind for
// each field of each table and of the manifest that can be amplified.
#pragma once

#include "base/byte_codec.hpp"
#include "format/identity/device_identity.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace clbin::test {

struct AmplifyingKind {
  std::string_view name;
  base::Bytes (*make)(std::uint32_t scale);
};

// What is amplified grows with `scale`: 1, 2 and 4 show whether a cost is linear. All hold the
// program "p" with the variant "default", unless it is their own names that are amplified. The same
// bytes in every run.
[[nodiscard]] std::span<const AmplifyingKind> amplifying_kinds();

// The device that their entries are made for.
[[nodiscard]] format::DeviceIdentity amplified_device();

} // namespace clbin::test
