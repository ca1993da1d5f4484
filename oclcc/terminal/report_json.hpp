// What the reports of --json have in common; oclcc/schema describes them.
#pragma once

#include "format/bundle.hpp"
#include "format/json_document.hpp"

#include <span>
#include <string>
#include <vector>

namespace oclcc {

// The whole report: `members` and the version of the schemas.
[[nodiscard]] std::string report_json(clbin::format::JsonObject members);

[[nodiscard]] clbin::format::JsonValue strings_json(const std::vector<std::string>& texts);
[[nodiscard]] clbin::format::JsonValue errors_json(std::span<const clbin::base::Error> errors);
// Every field.
[[nodiscard]] clbin::format::JsonObject
identity_json(const clbin::format::DeviceIdentity& identity);
// What nobody told is null.
[[nodiscard]] clbin::format::JsonValue kernel_json(const clbin::format::KernelReflection& kernel);

} // namespace oclcc
