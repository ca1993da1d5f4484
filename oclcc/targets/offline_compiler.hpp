// Builds units for offline targets with programs such as clang, and cubins with ptxas.
#pragma once

#include "targets/offline_target.hpp"
#include "targets/tools.hpp"
#include "units/recipes.hpp"
#include "units/sealed_files.hpp"

namespace oclcc::offline {

// What a unit is compiled for, and with.
struct FamilyRequest {
  OfflineTarget target;
  Words options;
  Words extensions{};             // requested_extensions(options)
  std::filesystem::path shared{}; // the file of prepare(), or empty
};

// What differs from family to family. The functions are thread-safe.
struct FamilyCompiler {
  // Returns the tested rows of tools for a target, best first.
  std::vector<ToolRow> (*tools_for)(const OfflineTarget& target);
  // Fills `reply`, except for the versions of tools. The source is in the session's folder. Returns
  // errors of running the tools.
  Result<void> (*compile)(const ToolSession& session, const FamilyRequest& request,
                          BuildReply& reply);
  // Returns a name of what prepare() makes, which covers everything that it is made of, apart from
  // the tools: requests with the same name share it. Null if there is no such thing.
  // invalid_argument: the target lacks an extension of the request.
  Result<std::string> (*preparation_of)(const FamilyRequest& request) = nullptr;
  // Makes what units share, with clang alone: the bytes of a file, of which there is at least one.
  // Called once per name, or not at all if the compile cache contains it.
  Result<base::Bytes> (*prepare)(const ToolSession& session,
                                 const FamilyRequest& request) = nullptr;
  // Returns text that contains the version of a program.
  Result<std::string> (*print_version)(const ToolSession& session,
                                       std::string_view tool) = offline::print_version;
  // Returns the releases of the compiler, the first tool of each row, that have the target. Null:
  // all have it.
  Releases (*releases_with)(const OfflineTarget& target) = nullptr;
};
// To PTX that NVIDIA's OpenCL driver loads, with clang.
extern const FamilyCompiler k_nvptx_compiler;
// To machine code for NVIDIA's devices, as PTX that ptxas converts.
extern const FamilyCompiler k_cubin_compiler;
// To AMD's code objects, with clang, lld and AMD's device libraries.
extern const FamilyCompiler k_amdgcn_compiler;
// To zebins, the binaries of Intel's GPUs, with Intel's ocloc.
extern const FamilyCompiler k_intel_compiler;
// To SPIR-V, with clang and its translator, and validated.
extern const FamilyCompiler k_spirv_compiler;

[[nodiscard]] const FamilyCompiler& family_compiler(OfflineFamily family);

// Returns the extensions that "-cl-ext=+NAME" adds to the language of a target. The others of a
// target need no request.
[[nodiscard]] Words requestable_extensions(const OfflineTarget& target);

// invalid_argument: no family has a tool of that name.
[[nodiscard]] Result<void> require_known_tools(const ToolPaths& given);

struct OfflineJob {
  OfflineTarget target;
  ToolPaths tools;
  std::vector<clbin::cache::Ingredient> tool_facts; // ToolDigests::ingredients_of(tools)
  // Of the tools that no --tool chose: their version must begin with one of these.
  std::map<std::string, std::vector<std::string>, std::less<>> tested_versions{};
  // The first tool of a row, if its name does not tell its release, and not each one has the
  // target.
  std::string compiler{};
  Releases releases{};

  // Whether what is installed does not show that the target can be used.
  [[nodiscard]] bool depends_on_versions() const noexcept {
    return !tested_versions.empty() || !compiler.empty();
  }
};

// Names at once what the targets need that is not installed. Errors as for require_tools of their
// TargetTools.
[[nodiscard]] Result<void> require_tools(const std::vector<OfflineTarget>& targets,
                                         const ToolPaths& given);
// Returns what a target needs. Errors as for find_tools and ToolDigests.
[[nodiscard]] Result<OfflineJob> find_job(const OfflineTarget& target, const ToolPaths& given,
                                          ToolDigests& digests);

// Builds each unit with one function, which is thread-safe.
class StatelessCompiler : public Compiler {
public:
  [[nodiscard]] std::unique_ptr<CompilerSession> start_session(std::uint32_t lane,
                                                               std::stop_token useless) override;

protected:
  [[nodiscard]] virtual UnitResult build(const Unit& unit) = 0;
};

class OfflineCompiler : public StatelessCompiler {
public:
  // Asks the tools of the target whose version matters. no_device: one is of another version than
  // was tested, or a clang does not have the target. Errors of running them.
  [[nodiscard]] virtual Result<void> require_tested_tools(std::size_t target) = 0;
};

// The targets are those of `jobs`, and there is one lane. Each unit has its own folder below the
// home of `settings`, in which every name is constant. What does not depend on the units is taken
// from `kept`, and stored there: what prepare() makes, and the versions of tools.
[[nodiscard]] std::shared_ptr<OfflineCompiler>
make_offline_compiler(std::vector<OfflineJob> jobs, const worker::WorkerSettings& settings,
                      std::chrono::seconds timeout, SealedFiles kept);

// Searches PATH, then the directories of NVIDIA's packages, without starting ptxas. no_device, with
// the package to install, if there is none.
[[nodiscard]] Result<std::filesystem::path> find_ptxas();

// Returns a compiler that converts the binaries of units to cubins, and skips those that are not
// PTX. The targets are `architectures`, such as "sm_90". `settings`, with a home, and `timeout`
// apply to each run of `tool`.
[[nodiscard]] std::shared_ptr<Compiler> make_ptxas_compiler(std::filesystem::path tool,
                                                            std::vector<std::string> architectures,
                                                            const worker::WorkerSettings& settings,
                                                            std::chrono::seconds timeout);

} // namespace oclcc::offline
