#include "worker/spawn.hpp"

#include <csignal>
#include <unistd.h>

namespace oclcc::worker {

namespace {

constexpr std::string_view k_secret = "CLBIN_REMOTE_TOKEN=";

} // namespace

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(k_secret)) {
      variables.emplace_back(*variable);
    }
  }
  return variables;
}

void set_variable(std::vector<std::string>& variables, std::string_view name,
                  std::string_view value) {
  const std::string start = std::string(name) + "=";
  std::erase_if(variables,
                [&](const std::string& variable) { return variable.starts_with(start); });
  variables.push_back(start + std::string(value));
}

SpawnSettings::SpawnSettings() {
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
}

int SpawnSettings::restore_signals(DefaultSignals signals) {
  sigset_t none;
  sigset_t defaults;
  ::sigemptyset(&none);
  if (signals == DefaultSignals::all) {
    ::sigfillset(&defaults);
  } else {
    ::sigemptyset(&defaults);
    ::sigaddset(&defaults, SIGXFSZ);
  }
  for (const int error : {::posix_spawnattr_setsigmask(&attributes, &none),
                          ::posix_spawnattr_setsigdefault(&attributes, &defaults)}) {
    if (error != 0) {
      return error;
    }
  }
  return add_flags(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

int SpawnSettings::lead_process_group() {
  const int error = ::posix_spawnattr_setpgroup(&attributes, 0);
  return error != 0 ? error : add_flags(POSIX_SPAWN_SETPGROUP);
}

int SpawnSettings::add_flags(int flags) {
  short present = 0;
  const int error = ::posix_spawnattr_getflags(&attributes, &present);
  return error != 0 ? error
                    : ::posix_spawnattr_setflags(&attributes, static_cast<short>(present | flags));
}

SpawnSettings::~SpawnSettings() {
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
}

} // namespace oclcc::worker
