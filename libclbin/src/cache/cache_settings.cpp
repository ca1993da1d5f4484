#include "cache/cache_settings.hpp"

#include "base/system/process.hpp"
#include "base/text.hpp"

#include <system_error>
#include <thread>

namespace clbin::cache {

namespace {

// Returns std::nullopt if the variable is not set or empty (as the XDG base directory specification
// requires).
std::optional<std::string> value_of(const ProcessEnvironment& environment, const char* name) {
  auto value = environment.variable(name);
  return value.has_value() && !value->empty() ? value : std::nullopt;
}

// The error is why there is none.
using Folder = tl::expected<std::filesystem::path, std::string>;

// `name` describes the home directory in messages.
Folder folder_below_home(const std::filesystem::path& home, std::string_view name) {
  if (home.empty()) {
    return tl::unexpected(fmt::format("{} is not set", name));
  }
  if (home.is_relative()) {
    return tl::unexpected(
        fmt::format("{} '{}' is not an absolute path", name, base::name_of(home)));
  }
  return home / base::cache_places().back().below;
}

Folder cache_folder(const ProcessEnvironment& environment) {
  if (environment.rights == Rights::elevated) {
    return folder_below_home(environment.account_home(),
                             "the home directory of the effective user");
  }
  if (const auto folder = value_of(environment, "CLBIN_CACHE_DIR")) {
    std::error_code error;
    auto absolute = std::filesystem::absolute(base::to_path(*folder), error);
    if (error) {
      return tl::unexpected(fmt::format(
          "CLBIN_CACHE_DIR '{}' is relative, and the working directory no longer exists", *folder));
    }
    return absolute;
  }
  const auto places = base::cache_places();
  for (const base::CachePlace& place : places.first(places.size() - 1)) {
    const auto caches = value_of(environment, place.variable);
    if (const auto path = base::to_path(caches.value_or("")); path.is_absolute()) {
      return path / place.below;
    }
  }
  const char* const home = places.back().variable;
  return folder_below_home(base::to_path(value_of(environment, home).value_or("")), home);
}

} // namespace

ProcessEnvironment this_process() {
  return {base::environment_variable,
          base::has_rights_of_others() ? Rights::elevated : Rights::plain, base::home_of_account};
}

CacheSettings CacheSettings::from_environment(const ProcessEnvironment& environment,
                                              CacheOnPocl on_pocl_by_default) {
  CacheSettings settings;
  settings.now = [] { return std::chrono::system_clock::now(); };
  settings.pause = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); };
  const bool is_trusted = environment.rights == Rights::plain;
  const auto on_pocl = is_trusted ? value_of(environment, "CLBIN_CACHE_POCL") : std::nullopt;
  settings.on_pocl = on_pocl == "1"   ? CacheOnPocl::yes
                     : on_pocl == "0" ? CacheOnPocl::no
                                      : on_pocl_by_default;
  if (environment.variable("POCL_KERNEL_CACHE") == "0") { // PoCL reads it in every process
    settings.of_pocl = PoclCache::off;
  }
  const Folder folder = cache_folder(environment);
  settings.folder = folder.value_or("");
  const auto size = is_trusted ? value_of(environment, "CLBIN_CACHE_MAX_SIZE") : std::nullopt;
  const auto bytes = size.has_value() ? base::parse_size(*size) : std::nullopt;
  settings.max_bytes = bytes.value_or(k_default_max_bytes);
  if (is_trusted && value_of(environment, "CLBIN_CACHE") == "0") {
    settings.why_off = "CLBIN_CACHE is 0";
    return settings;
  }
  if (!folder.has_value()) {
    settings.why_off = "it has no folder: " + folder.error();
    settings.warning = "the cache is not used: " + folder.error();
    return settings;
  }
  if (size.has_value() && !bytes.has_value()) {
    settings.warning = fmt::format("CLBIN_CACHE_MAX_SIZE '{}' is not a size such as 512M", *size);
  }
  settings.use = CacheUse::on;
  settings.why_off.clear();
  return settings;
}

CacheSettings CacheSettings::of_folder(const ProcessEnvironment& environment) {
  CacheSettings settings = from_environment(environment);
  if (!settings.folder.empty()) {
    settings.use = CacheUse::on;
    settings.why_off.clear();
  }
  return settings;
}

} // namespace clbin::cache
