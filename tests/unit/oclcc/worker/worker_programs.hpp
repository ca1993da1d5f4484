// The programs that tests of workers start.
#pragma once

#include <filesystem>

namespace oclcc {

// worker_stub.cpp, which takes the place of a worker.
std::filesystem::path worker_stub();
std::filesystem::path oclcc_program();

} // namespace oclcc
