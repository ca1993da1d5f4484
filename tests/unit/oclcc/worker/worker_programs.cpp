#include "worker_programs.hpp"

namespace oclcc {

std::filesystem::path worker_stub() {
  return OCLCC_WORKER_STUB;
}
std::filesystem::path oclcc_program() {
  return OCLCC_EXECUTABLE;
}
worker::WorkerSettings stub_settings(const std::string& mode) {
  worker::WorkerSettings settings;
  settings.executable = worker_stub();
  settings.arguments = {mode};
  return settings;
}

} // namespace oclcc
