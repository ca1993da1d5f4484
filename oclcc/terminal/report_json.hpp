// Common parts of the --json reports, which oclcc/schema describes.
#pragma once

#include "base/json_document.hpp"
#include "format/bundle/bundle.hpp"
#include "terminal/json_stream.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace oclcc {

// The "version" of each report.
inline constexpr std::uint64_t k_report_version = 1;

// Returns the whole report: `members` and the version of the schemas.
[[nodiscard]] std::string report_json(clbin::base::JsonObject members);

[[nodiscard]] clbin::base::JsonValue strings_json(const std::vector<std::string>& texts);
[[nodiscard]] clbin::base::JsonValue errors_json(std::span<const clbin::base::Error> errors);
// Includes every field of `identity`.
[[nodiscard]] clbin::base::JsonObject identity_json(const clbin::format::DeviceIdentity& identity);
// Writes null for unknown facts. The values of a kernel's arguments are never all in memory.
void write_kernel(const clbin::format::KernelReflection& kernel, JsonStream& document);

} // namespace oclcc
