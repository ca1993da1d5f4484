#include "compile/compile_steps.hpp"

#include "cache/unit_recipe.hpp"
#include "offline/ptxas.hpp"

#include <algorithm>

namespace oclcc {

using clbin::base::Result;

namespace {

bool is_nvidias_device(const BuildTarget& target) {
  return target.device &&
         clbin::format::target_family(target.target) == clbin::format::DeviceFamily::nvidia;
}

std::optional<std::vector<clbin::cache::Ingredient>>
shared_facts(const Job& job, const std::filesystem::path& tool, const std::string& architecture) {
  const auto contents = job.contents ? job.contents->of(tool) : std::nullopt;
  if (!contents) {
    return std::nullopt;
  }
  return std::vector<clbin::cache::Ingredient>{{"ptxas", *contents, clbin::cache::ShowValue::no},
                                               {"architecture of the cubin", architecture}};
}

} // namespace

Result<void> add_cubin_targets(Job& job, const worker::WorkerSettings& settings,
                               std::chrono::seconds timeout) {
  if (std::none_of(job.targets.begin(), job.targets.end(), is_nvidias_device)) {
    return {};
  }
  CLBIN_TRY_ASSIGN(const std::filesystem::path tool, offline::find_ptxas());
  std::vector<std::string> architectures;
  std::vector<BuildTarget> targets;
  for (BuildTarget& target : job.targets) {
    const bool has_cubins = is_nvidias_device(target);
    targets.push_back(std::move(target));
    if (!has_cubins) {
      continue;
    }
    BuildTarget cubins = targets.back();
    cubins.form = "cubin";
    cubins.compiler = job.compilers.size();
    cubins.compiler_target = architectures.size();
    cubins.input = targets.size() - 1;
    cubins.compiler_facts = {{"ptxas", fmt::format("{}: {}", tool.string(), file_stamp(tool)),
                              clbin::cache::ShowValue::no},
                             {"architecture of the cubin", cubins.target.identity.architecture}};
    cubins.shared_facts = shared_facts(job, tool, cubins.target.identity.architecture);
    architectures.push_back(cubins.target.identity.architecture);
    targets.push_back(std::move(cubins));
  }
  job.targets = std::move(targets);
  job.compilers.push_back(
      std::make_shared<offline::PtxasCompiler>(tool, std::move(architectures), settings, timeout));
  return {};
}

} // namespace oclcc
