#include "worker/spawn.hpp"

#include "base/system/process.hpp"

#include <thread>

namespace oclcc::worker {

namespace {

constexpr std::string_view k_secret = "CLBIN_REMOTE_TOKEN=";

} // namespace

std::vector<std::string> own_environment() {
  std::vector<std::string> variables = base::environment_variables();
  std::erase_if(variables,
                [](const std::string& variable) { return variable.starts_with(k_secret); });
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

Result<Channel> open_channel() {
  auto pair = base::open_socket_pair();
  if (!pair) {
    return fail(ErrorCode::internal, "cannot open a channel to a process: {}",
                reason_of(pair.error()));
  }
  CLBIN_TRY_ASSIGN(auto own, move_out_of_the_way(std::move(pair->own)));
  CLBIN_TRY_ASSIGN(auto other, move_out_of_the_way(std::move(pair->other)));
  return Channel{std::move(own), std::move(other)};
}

bool ends_before(std::chrono::steady_clock::time_point deadline, pid_t child) {
  constexpr std::chrono::milliseconds k_pause{2};
  while (!has_ended(child)) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return false;
    }
    std::this_thread::sleep_for(k_pause);
  }
  return true;
}

} // namespace oclcc::worker
