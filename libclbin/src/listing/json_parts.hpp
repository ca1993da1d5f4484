// Common parts of the JSON documents that describe bundles and devices. oclcc/schema describes
// them.
#pragma once

#include "base/json_document.hpp"
#include "model/device.hpp"

namespace clbin::listing {

// The "version" of each document.
inline constexpr std::uint64_t k_report_version = 1;

[[nodiscard]] base::JsonValue error_json(const base::Error& error);
[[nodiscard]] base::JsonValue errors_json(std::span<const base::Error> errors);

// Includes every field of `identity`.
[[nodiscard]] base::JsonObject identity_json(const format::DeviceIdentity& identity);

} // namespace clbin::listing
