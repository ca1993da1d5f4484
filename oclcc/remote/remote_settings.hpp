// The settings of the remote cache: the variables CLBIN_REMOTE… and the configuration file.
#pragma once

#include "cache/cache_settings.hpp"
#include "terminal/reporter.hpp"

namespace oclcc::remote {

enum class RemoteUse : std::uint8_t { off, on };
enum class RemoteMode : std::uint8_t { read_write, read_only };

struct RemoteSettings {
  RemoteUse use = RemoteUse::off;
  std::string why_off;        // for -v; empty if no remote cache is configured
  std::filesystem::path file; // the configuration file, which may not exist; empty: none
  std::string url;
  std::string token;                               // a secret; empty if there is none
  std::optional<std::filesystem::path> token_file; // where the token is from
  RemoteMode mode = RemoteMode::read_write;
  // How long look-ups may delay a run in all beyond their free times, and how long the server may
  // take to store a result.
  std::chrono::milliseconds timeout{1000};
  // As values of --public-key. If there are any, entries count only with a signature by one of
  // them.
  std::vector<std::string> public_keys;
  std::optional<std::filesystem::path> sign_key; // a secret key file
  std::optional<std::filesystem::path> netrc;    // absolute
  // One line for each problem: "/home/a/.config/clbin/oclcc.conf:3: unknown setting 'remot'". None
  // contains a token. `use` is off, unless others can merely read a secret file: a setting
  // that is not understood may be one of trust.
  std::vector<std::string> problems;
};

// Reads $XDG_CONFIG_HOME/clbin/oclcc.conf, otherwise $HOME/.config/clbin/oclcc.conf, then the
// variables, which override it. Never fails. The remote cache is off in a process with rights that
// its user does not have, which reads neither, and if CLBIN_CACHE or CLBIN_REMOTE is 0.
[[nodiscard]] RemoteSettings
read_remote_settings(const clbin::cache::ProcessEnvironment& environment);

// Applies the text of a configuration file. `file` is its name in problems.
void apply_remote_configuration(std::string_view text, const std::string& file,
                                RemoteSettings& settings);

} // namespace oclcc::remote
