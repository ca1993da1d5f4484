// Common parts of the --json reports, which oclcc/schema describes.
#pragma once

#include "base/json_document.hpp"
#include "listing/json_parts.hpp"

#include <string>

namespace oclcc {

using clbin::base::JsonStream;
using clbin::listing::errors_json;
using clbin::listing::identity_json;
using clbin::listing::k_report_version;
using clbin::listing::strings_json;

// Returns the whole report: `members` and the version of the schemas.
[[nodiscard]] std::string report_json(clbin::base::JsonObject members);

} // namespace oclcc
