#include "worker_programs.hpp"

namespace oclcc {

std::filesystem::path worker_stub() {
  return OCLCC_WORKER_STUB;
}
std::filesystem::path oclcc_program() {
  return OCLCC_EXECUTABLE;
}

} // namespace oclcc
