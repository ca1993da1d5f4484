#include "remote/remote_settings.hpp"

#include "base/system/folder.hpp"
#include "base/text.hpp"
#include "worker/spawn.hpp"

#include <algorithm>
#include <set>

namespace oclcc::remote {

using base::printable;
using clbin::cache::ProcessEnvironment;

namespace {

constexpr std::size_t k_max_url_bytes = 2048;
constexpr std::size_t k_max_token_bytes = 4096;
constexpr std::uint64_t k_max_token_file_bytes = 8192;
constexpr std::uint64_t k_most_milliseconds = 60'000;
constexpr std::size_t k_max_problems = 20;

// Each sets one member, and returns the problem with the value; empty if there is none.
std::string set_url(RemoteSettings& settings, std::string_view value) {
  settings.url.clear();
  if (value == "0") {
    settings.why_off = "CLBIN_REMOTE is 0";
    return {};
  }
  const std::size_t scheme = value.find("://");
  const std::string_view name = value.substr(0, std::min(scheme, value.size()));
  if (scheme == std::string_view::npos || (name != "http" && name != "https")) {
    return "expected 'http://HOST:PORT/PATH' or 'https://…'";
  }
  const std::string_view rest = value.substr(scheme + 3);
  const std::string_view host = rest.substr(0, rest.find('/'));
  if (host.find('@') != std::string_view::npos) {
    return "a user and a password do not belong in the address, which others can see: use a token "
           "or a netrc file"; // the value contains a secret
  }
  const bool is_plain = std::ranges::all_of(value, [](char letter) {
    return letter > ' ' && letter != '\x7F' && letter != '?' && letter != '#';
  });
  if (host.empty() || !is_plain || value.size() > k_max_url_bytes) {
    // The value may contain a secret, in a query or elsewhere.
    return fmt::format("an address has no spaces, '?' and '#', and at most {} bytes",
                       k_max_url_bytes);
  }
  settings.url = value;
  settings.why_off.clear();
  return {};
}

std::string set_token(RemoteSettings& settings, std::string_view value) {
  settings.token.clear();
  settings.token_file.reset();
  const bool is_plain =
      std::ranges::all_of(value, [](char letter) { return letter > ' ' && letter < '\x7F'; });
  if (value.empty() || !is_plain || value.size() > k_max_token_bytes) {
    return fmt::format("a token consists of 1 to {} visible ASCII characters", k_max_token_bytes);
  }
  settings.token = value;
  return {};
}

std::string set_token_file(RemoteSettings& settings, std::string_view value) {
  settings.token.clear();
  const std::filesystem::path path(value);
  const auto bytes =
      base::read_whole_file(path, k_max_token_file_bytes, base::MissingWriter::is_the_end);
  if (!bytes.has_value()) {
    return bytes.error().message;
  }
  std::string_view text = base::as_text(*bytes);
  text.remove_suffix(text.size() - std::min(text.size(), text.find_last_not_of("\r\n") + 1));
  const std::string problem = set_token(settings, text);
  settings.token_file = path;
  return problem.empty() ? std::string()
                         : fmt::format("'{}': {}", printable(path.string()), problem);
}

std::string set_mode(RemoteSettings& settings, std::string_view value) {
  const auto is_read_only = base::parse_switch(value);
  if (!is_read_only) {
    return fmt::format("'{}' is neither 1 nor 0, yes nor no", printable(value));
  }
  settings.mode = *is_read_only ? RemoteMode::read_only : RemoteMode::read_write;
  return {};
}

std::string set_timeout(RemoteSettings& settings, std::string_view value) {
  const auto milliseconds = base::parse_number<std::uint64_t>(value).value_or(0);
  if (milliseconds == 0 || milliseconds > k_most_milliseconds) {
    return fmt::format("'{}' is not a number of milliseconds from 1 to {}", printable(value),
                       k_most_milliseconds);
  }
  settings.timeout = std::chrono::milliseconds(milliseconds);
  return {};
}

std::string set_public_keys(RemoteSettings& settings, std::string_view value) {
  settings.public_keys.clear();
  for (const std::filesystem::path& key : clbin::base::paths_in(value)) {
    settings.public_keys.push_back(key.string());
  }
  return settings.public_keys.empty() ? "no key is named, and no entry would be trusted" : "";
}

std::string set_sign_key(RemoteSettings& settings, std::string_view value) {
  settings.sign_key = std::filesystem::path(value);
  return value.empty() ? "no file is named" : "";
}

std::string set_netrc(RemoteSettings& settings, std::string_view value) {
  std::error_code error; // the working directory was removed
  settings.netrc = std::filesystem::absolute(std::filesystem::path(value), error);
  const bool is_plain = !error && !base::has_control_character(value);
  return is_plain ? std::string() : fmt::format("'{}' is not a file name", printable(value));
}

// An empty variable is one that is not set, except where trust may be meant.
enum class Concern : std::uint8_t { access, trust };

struct Setting {
  std::string_view key;
  const char* variable;
  std::string (*set)(RemoteSettings&, std::string_view);
  Concern concern = Concern::access;
};
constexpr std::array<Setting, 8> k_settings{{
    {"remote", "CLBIN_REMOTE", set_url},
    {"remote-token", "CLBIN_REMOTE_TOKEN", set_token},
    {"remote-token-file", "CLBIN_REMOTE_TOKEN_FILE", set_token_file},
    {"remote-netrc", "CLBIN_REMOTE_NETRC", set_netrc},
    {"remote-read-only", "CLBIN_REMOTE_READ_ONLY", set_mode},
    {"remote-timeout", "CLBIN_REMOTE_TIMEOUT", set_timeout},
    {"remote-public-key", "CLBIN_REMOTE_PUBLIC_KEY", set_public_keys, Concern::trust},
    {"remote-sign-key", "CLBIN_REMOTE_SIGN_KEY", set_sign_key, Concern::trust},
}};

void add_problem(RemoteSettings& settings, std::string problem) {
  settings.use = RemoteUse::off;
  settings.why_off = "a setting is wrong";
  if (settings.problems.size() < k_max_problems) {
    settings.problems.push_back(std::move(problem));
  }
}

// The settings of trust that a file contains. Of two, nobody knows which one is meant.
using KeysGiven = std::set<std::string_view>;

std::string apply_line(std::string_view line, KeysGiven& given, RemoteSettings& settings) {
  if (line.front() == '[') {
    return "unknown section";
  }
  const auto parsed = base::parse_setting(line);
  if (!parsed.has_value()) {
    return parsed.error().message;
  }
  const auto* const setting = std::ranges::find_if(
      k_settings, [&](const Setting& known) { return known.key == parsed->name; });
  if (setting == k_settings.end()) {
    return fmt::format("unknown setting '{}'", printable(parsed->name));
  }
  if (setting->concern == Concern::trust && !given.insert(setting->key).second) {
    return fmt::format("'{}' is set twice", setting->key);
  }
  return setting->set(settings, parsed->value);
}

std::optional<std::string> value_of(const ProcessEnvironment& environment, const char* name) {
  auto value = environment.variable(name);
  return value.has_value() && !value->empty() ? value : std::nullopt;
}

// Empty if there is no home directory.
std::filesystem::path configuration_file(const ProcessEnvironment& environment) {
  std::filesystem::path folder = value_of(environment, "XDG_CONFIG_HOME").value_or("");
  if (!folder.is_absolute()) {
    folder = value_of(environment, "HOME").value_or("");
    if (!folder.is_absolute()) {
      return {};
    }
    folder /= ".config";
  }
  return folder / "clbin" / "oclcc.conf";
}

void read_configuration_file(const std::filesystem::path& path, RemoteSettings& settings) {
  const auto bytes = base::read_regular_file(path, base::k_max_configuration_bytes);
  if (!bytes.has_value()) {
    if (bytes.error().code != ErrorCode::file_not_found) {
      add_problem(settings, bytes.error().message);
    }
    return;
  }
  apply_remote_configuration(base::as_text(*bytes), path.string(), settings);
}

void read_variables(const ProcessEnvironment& environment, RemoteSettings& settings) {
  for (const Setting& setting : k_settings) {
    const auto value = environment.variable(setting.variable);
    const bool is_set = value.has_value() && (!value->empty() || setting.concern == Concern::trust);
    const std::string problem = is_set ? setting.set(settings, *value) : std::string();
    if (!problem.empty()) {
      add_problem(settings, fmt::format("{}: {}", setting.variable, problem));
    }
  }
  if (value_of(environment, "CLBIN_REMOTE_TOKEN") &&
      value_of(environment, "CLBIN_REMOTE_TOKEN_FILE")) {
    add_problem(settings, "CLBIN_REMOTE_TOKEN and CLBIN_REMOTE_TOKEN_FILE are both set");
  }
}

// Does not turn the cache off.
void warn_of_readers(RemoteSettings& settings) {
  for (const auto& file : {settings.token_file, settings.sign_key}) {
    if (auto warning = file ? base::warning_of_readers(*file) : std::nullopt) {
      settings.problems.push_back(*std::move(warning));
    }
  }
}

} // namespace

void apply_remote_configuration(std::string_view text, const std::string& file,
                                RemoteSettings& settings) {
  KeysGiven given;
  for (const auto& [number, line] : base::configuration_lines(text)) {
    const std::string problem =
        line.has_value() ? apply_line(*line, given, settings) : line.error().message;
    if (!problem.empty()) {
      add_problem(settings, fmt::format("{}:{}: {}", file, number, problem));
    }
  }
}

RemoteSettings read_remote_settings(const ProcessEnvironment& environment) {
  RemoteSettings settings;
  if (environment.rights == clbin::cache::Rights::elevated) {
    settings.why_off = "this process has rights that its user does not have";
    return settings;
  }
  settings.file = configuration_file(environment);
  if (!settings.file.empty()) {
    read_configuration_file(settings.file, settings);
  }
  read_variables(environment, settings);
  if (!settings.problems.empty()) {
    return settings;
  }
  if (value_of(environment, "CLBIN_CACHE") == "0" && !settings.url.empty()) {
    settings.why_off = "CLBIN_CACHE is 0";
  } else if (!settings.url.empty()) {
    settings.use = RemoteUse::on;
    warn_of_readers(settings);
  }
  return settings;
}

} // namespace oclcc::remote
