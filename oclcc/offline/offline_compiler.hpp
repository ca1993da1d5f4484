// Builds units for offline targets with programs such as clang, and cubins with ptxas.
#pragma once

#include "base/file_io.hpp"
#include "base/result.hpp"
#include "cache/recipes.hpp"
#include "cache/sealed_files.hpp"
#include "offline/offline_target.hpp"
#include "offline/tools.hpp"
#include "units/unit.hpp"
#include "worker/worker_process.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace oclcc::offline {

// One run of the tools, in a folder of its own.
class ToolSession {
public:
  ToolSession(const ToolPaths& tools, std::filesystem::path folder,
              const worker::WorkerSettings& settings, std::chrono::seconds timeout);

  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return m_folder; }
  [[nodiscard]] const std::filesystem::path& path(std::string_view tool) const;
  // Runs a tool; errors as for run_tool. The exit status is the caller's business.
  [[nodiscard]] clbin::base::Result<ToolRun> run(std::string_view tool,
                                                 const std::vector<std::string>& arguments) const;

  [[nodiscard]] clbin::base::Result<void> write_input(const char* name,
                                                      std::string_view text) const;
  // Reads a file in the folder that `tool` should have written. internal: there is none, or it is
  // larger than 1 GiB.
  [[nodiscard]] clbin::base::Result<clbin::base::Bytes> read_output(std::string_view tool,
                                                                    const char* name) const;

private:
  const ToolPaths& m_tools;
  std::filesystem::path m_folder;
  const worker::WorkerSettings& m_settings;
  std::chrono::seconds m_timeout;
};

// What differs from family to family. Stateless and thread-safe.
class FamilyCompiler {
public:
  FamilyCompiler() = default;
  virtual ~FamilyCompiler() = default;
  FamilyCompiler(const FamilyCompiler&) = delete;
  FamilyCompiler& operator=(const FamilyCompiler&) = delete;

  // Returns the tested rows of tools for a target, best first.
  [[nodiscard]] virtual std::vector<ToolRow> tools_for(const OfflineTarget& target) const = 0;
  // Returns text that contains the version of a program. By default, what "TOOL --version" prints.
  [[nodiscard]] virtual clbin::base::Result<std::string> print_version(const ToolSession& session,
                                                                       std::string_view tool) const;
  // Returns a name of what prepare() makes, which covers everything that it is made of, apart from
  // the tools: targets with the same name share it. Empty, the default, if there is no such thing.
  [[nodiscard]] virtual std::string preparation_of(const OfflineTarget& target) const;
  // Makes what units share, with clang alone: the bytes of a file, of which there is at least one.
  // Called once per name, or not at all if the compile cache contains it.
  [[nodiscard]] virtual clbin::base::Result<clbin::base::Bytes>
  prepare(const ToolSession& session, const OfflineTarget& target) const;
  // Fills `reply`, except for the versions of tools. The source is in the session's folder. Returns
  // errors of running the tools. `shared` is the file of prepare(), or empty.
  [[nodiscard]] virtual clbin::base::Result<void> compile(const ToolSession& session,
                                                          const std::filesystem::path& shared,
                                                          const OfflineTarget& target,
                                                          const std::vector<std::string>& options,
                                                          BuildReply& reply) const = 0;
};
// To PTX that NVIDIA's OpenCL driver loads, with clang and libclc.
[[nodiscard]] const FamilyCompiler& nvptx_compiler();
// To machine code for NVIDIA's devices, as PTX that ptxas converts.
[[nodiscard]] const FamilyCompiler& cubin_compiler();
// To AMD's code objects, with clang, lld and AMD's device libraries.
[[nodiscard]] const FamilyCompiler& amdgcn_compiler();
// To zebins, the binaries of Intel's GPUs, with Intel's ocloc.
[[nodiscard]] const FamilyCompiler& intel_compiler();
// To SPIR-V, with clang and its translator, and validated.
[[nodiscard]] const FamilyCompiler& spirv_compiler();

[[nodiscard]] const FamilyCompiler& family_compiler(OfflineFamily family);

// invalid_argument: no family has a tool of that name.
[[nodiscard]] clbin::base::Result<void> require_known_tools(const ToolPaths& given);

struct OfflineJob {
  OfflineTarget target;
  ToolPaths tools;
  std::vector<clbin::cache::Ingredient> tool_facts; // ToolDigests::ingredients_of(tools)
  // Of the tools that no --tool chose: their version must begin with one of these.
  std::map<std::string, std::vector<std::string>, std::less<>> tested_versions{};
};

// Returns what a target needs. Errors as for find_tools and ToolDigests.
[[nodiscard]] clbin::base::Result<OfflineJob>
find_job(const OfflineTarget& target, const ToolPaths& given, ToolDigests& digests);

// The targets are those of `jobs`, and there is one lane. Each unit has its own folder below the
// home of `settings`, in which every name is constant. What does not depend on the units is taken
// from `kept`, and stored there: what prepare() makes, and the versions of tools.
class OfflineCompiler final : public Compiler {
public:
  OfflineCompiler(std::vector<OfflineJob> jobs, worker::WorkerSettings settings,
                  std::chrono::seconds timeout, SealedFiles kept);

  // Asks the tools of the target whose version matters. no_device: one is of another version than
  // was tested. Errors of running them.
  [[nodiscard]] clbin::base::Result<void> require_tested_tools(std::size_t target);

  [[nodiscard]] std::unique_ptr<CompilerSession> start_session(std::uint32_t lane,
                                                               std::stop_token useless) override;

private:
  class Session;
  // What the units of targets share whose preparation_of and clang are the same.
  struct Shared {
    std::mutex mutex;
    std::optional<clbin::base::Result<clbin::base::TemporaryFolder>> folder;
  };
  // Returns the file that units of the target share, prepared at the first call; empty if there is
  // none. Units that do not share it do not wait for it.
  [[nodiscard]] clbin::base::Result<std::filesystem::path> shared_file(std::size_t target);
  [[nodiscard]] clbin::base::Result<clbin::base::TemporaryFolder>
  prepare(const OfflineJob& job, const std::string& name) const;
  // Returns what is kept under `name` for a tool of `job`, or makes and keeps it.
  template <typename Make>
  [[nodiscard]] clbin::base::Result<clbin::base::Bytes>
  kept_or_made(const std::string& name, const OfflineJob& job, std::string_view tool,
               const Make& make) const;
  // Returns the version of a tool of `job`, asked for once per tool. `folder` is as for run_tool.
  [[nodiscard]] clbin::base::Result<std::string>
  version_of(const OfflineJob& job, const std::string& tool, const std::filesystem::path& folder);

  std::vector<OfflineJob> m_jobs;
  worker::WorkerSettings m_settings;
  std::chrono::seconds m_timeout;
  SealedFiles m_kept;
  CompilerFacts m_facts;
  std::mutex m_mutex;
  std::map<std::filesystem::path, clbin::base::Result<std::string>> m_versions;
  std::map<std::string, Shared> m_shared; // by key_of_shared; no element is added later
};

// Searches PATH, then the directories of NVIDIA's packages, without starting ptxas. no_device, with
// the package to install, if there is none.
[[nodiscard]] clbin::base::Result<std::filesystem::path> find_ptxas();

// Returns a compiler that converts the binaries of units to cubins, and skips those that are not
// PTX. The targets are `architectures`, such as "sm_90". `settings`, with a home, and `timeout`
// apply to each run of `tool`.
[[nodiscard]] std::shared_ptr<Compiler> make_ptxas_compiler(std::filesystem::path tool,
                                                            std::vector<std::string> architectures,
                                                            const worker::WorkerSettings& settings,
                                                            std::chrono::seconds timeout);

} // namespace oclcc::offline
