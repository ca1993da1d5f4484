// The programs that tests of workers start.
#pragma once

#include "worker/worker_process.hpp"

#include <filesystem>

namespace oclcc {

// worker_stub.cpp, which takes the place of a worker.
std::filesystem::path worker_stub();
std::filesystem::path oclcc_program();
// Settings of a worker that is the stub.
worker::WorkerSettings stub_settings(const std::string& mode = "devices");

} // namespace oclcc
