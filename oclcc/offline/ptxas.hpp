// Runs NVIDIA's assembler, which converts PTX to a cubin that the driver loads without compiling.
#pragma once

#include "base/result.hpp"
#include "units/compiler.hpp"
#include "worker/worker_process.hpp"

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace oclcc::offline {

// Where NVIDIA's packages put ptxas, without adding the folder to PATH.
[[nodiscard]] std::vector<std::filesystem::path> ptxas_folders();

// Searches PATH, then the directories of NVIDIA's packages, without starting ptxas. no_device, with
// the package to install, if there is none.
[[nodiscard]] clbin::base::Result<std::filesystem::path> find_ptxas();

// Converts the binaries of units, skipping those that are not PTX. Has one lane.
class PtxasCompiler final : public Compiler {
public:
  // The targets are `architectures`, such as "sm_90". `settings`, with a home, and `timeout` apply
  // to each run of `tool`.
  PtxasCompiler(std::filesystem::path tool, std::vector<std::string> architectures,
                worker::WorkerSettings settings, std::chrono::seconds timeout);

  [[nodiscard]] std::uint32_t lane_of(std::size_t target) const override;
  void expect(const Workload& workload) override;
  [[nodiscard]] std::unique_ptr<CompilerSession> start_session(std::uint32_t lane,
                                                               std::stop_token useless) override;

private:
  class Session;
  // Returns "13.0.88", or the error of the first call. `folder` is used as for run_tool.
  [[nodiscard]] clbin::base::Result<std::string> version(const std::filesystem::path& folder);

  std::filesystem::path m_tool;
  std::vector<std::string> m_architectures;
  worker::WorkerSettings m_settings;
  std::chrono::seconds m_timeout;
  std::mutex m_mutex;
  std::optional<clbin::base::Result<std::string>> m_version;
};

} // namespace oclcc::offline
