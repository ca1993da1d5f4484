#include "storage_http/settings.hpp"

#include "base/file_io.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <map>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace oclcc::storage_http {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

constexpr std::array<std::string_view, 6> k_names = {"url",        "token",  "mode",
                                                     "timeout-ms", "idle-s", "netrc"};
constexpr std::int64_t k_max_number = 86'400'000; // a day in milliseconds

using Values = std::map<std::string, std::string, std::less<>>;

Result<Values> values_of(std::string_view text) {
  Values values;
  for (const std::string_view line : clbin::base::split_lines(text)) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) {
      return fail(ErrorCode::invalid_argument, "a line of the settings has no '='");
    }
    const std::string_view name = line.substr(0, equals);
    if (std::find(k_names.begin(), k_names.end(), name) == k_names.end()) {
      return fail(ErrorCode::invalid_argument, "a line of the settings has an unknown name");
    }
    if (!values.emplace(name, line.substr(equals + 1)).second) {
      return fail(ErrorCode::invalid_argument, "the settings contain '{}' twice", name);
    }
  }
  return values;
}

// Returns `otherwise` if the settings do not contain `name`.
Result<std::int64_t> number(const Values& values, std::string_view name, std::int64_t otherwise) {
  const auto found = values.find(name);
  if (found == values.end()) {
    return otherwise;
  }
  const std::string& text = found->second;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 ||
      value > k_max_number) {
    return fail(ErrorCode::invalid_argument, "'{}' must be a number from 1 to {}", name,
                k_max_number);
  }
  return value;
}

Result<Mode> mode_of(const Values& values) {
  const auto found = values.find("mode");
  if (found != values.end() && found->second == "read-write") {
    return Mode::read_write;
  }
  if (found != values.end() && found->second == "read-only") {
    return Mode::read_only;
  }
  return fail(ErrorCode::invalid_argument, "'mode' must be 'read-write' or 'read-only'");
}

Result<std::string> token_of(const Values& values) {
  const auto found = values.find("token");
  if (found == values.end()) {
    return std::string();
  }
  // Anything else could end the header that contains the token.
  const auto is_visible = [](char letter) { return letter > ' ' && letter <= '~'; };
  if (!std::all_of(found->second.begin(), found->second.end(), is_visible)) {
    return fail(ErrorCode::invalid_argument,
                "the token contains a space, a control character, or a byte that is not ASCII");
  }
  return found->second;
}

Result<std::filesystem::path> netrc_of(const Values& values) {
  const auto found = values.find("netrc");
  if (found == values.end() || found->second.empty()) {
    return std::filesystem::path();
  }
  // The helper changes its working directory.
  std::error_code error;
  auto path = std::filesystem::absolute(found->second, error);
  // libcurl ignores a file that it cannot read.
  if (error || ::access(path.c_str(), R_OK) != 0) {
    return clbin::base::open_error(clbin::base::in_quotes(found->second),
                                   error ? error.value() : errno);
  }
  return path;
}

} // namespace

Result<Settings> parse_settings(std::string_view text) {
  CLBIN_TRY_ASSIGN(const Values values, values_of(text));
  const auto url = values.find("url");
  if (url == values.end()) {
    return fail(ErrorCode::invalid_argument, "the settings have no 'url'");
  }
  CLBIN_TRY_ASSIGN(WebAddress address, WebAddress::parse(url->second, Query::rejected));
  CLBIN_TRY_ASSIGN(const Mode mode, mode_of(values));
  Settings settings{std::move(address), {}, mode, {}, {}, {}};
  CLBIN_TRY_ASSIGN(settings.token, token_of(values));
  CLBIN_TRY_ASSIGN(const std::int64_t timeout, number(values, "timeout-ms", 5000));
  CLBIN_TRY_ASSIGN(const std::int64_t idle, number(values, "idle-s", 300));
  settings.timeout = std::chrono::milliseconds(timeout);
  settings.idle = std::chrono::seconds(idle);
  CLBIN_TRY_ASSIGN(settings.netrc, netrc_of(values));
  return settings;
}

} // namespace oclcc::storage_http
