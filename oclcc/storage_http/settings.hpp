// The settings that oclcc sends to the standard input of oclcc-storage-http.
#pragma once

#include "storage_http/web_address.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace oclcc::storage_http {

enum class Mode : std::uint8_t { read_write, read_only };

struct Settings {
  WebAddress url;
  std::string token; // empty: none
  Mode mode;
  std::chrono::milliseconds timeout; // of connecting, and of requests without a deadline
  std::chrono::seconds idle;
  std::filesystem::path netrc; // absolute; empty: ~/.netrc, if it exists
};

// Parses lines "name=value". Returns invalid_argument for a line without '=', an unknown, repeated
// or missing name, and an invalid value. file_not_found or file_read if the netrc file cannot be
// read. No message contains the token.
[[nodiscard]] clbin::base::Result<Settings> parse_settings(std::string_view text);

} // namespace oclcc::storage_http
