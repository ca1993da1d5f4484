#include "compile/offline_targets.hpp"

#include "offline/offline_compiler.hpp"

#include <algorithm>

namespace oclcc {

using clbin::base::Result;
using offline::OfflineTarget;

namespace {

// In the order of known_targets, so that the order of the options does not matter.
Result<std::vector<OfflineTarget>> wanted_targets(const Options& options) {
  std::vector<OfflineTarget> wanted;
  for (const std::string& specification : options.targets) {
    CLBIN_TRY_ASSIGN(const auto targets, offline::parse_targets(specification));
    wanted.insert(wanted.end(), targets.begin(), targets.end());
  }
  std::vector<OfflineTarget> ordered;
  for (const OfflineTarget& target : offline::known_targets()) {
    if (std::find(wanted.begin(), wanted.end(), target) != wanted.end()) {
      ordered.push_back(target);
    }
  }
  return ordered;
}

std::map<std::string, std::string, std::less<>>
tested_versions(const std::vector<offline::ToolRow>& rows, const Options& options) {
  std::map<std::string, std::string, std::less<>> versions;
  for (const offline::ToolRow& row : rows) {
    for (const offline::ToolRow::Tool& tool : row.tools) {
      if (!tool.tested_version.empty() && options.tools.find(tool.name) == options.tools.end()) {
        versions.emplace(tool.name, tool.tested_version);
      }
    }
  }
  return versions;
}

} // namespace

Result<void> check_offline_options(const Options& options) {
  CLBIN_TRY(wanted_targets(options));
  return offline::require_known_tools(options.tools);
}

Result<void> add_offline_targets(Job& job, const Options& options,
                                 const worker::WorkerSettings& settings,
                                 const clbin::cache::CacheSettings& cache) {
  CLBIN_TRY_ASSIGN(const auto targets, wanted_targets(options));
  std::vector<offline::OfflineJob> jobs;
  offline::ToolDigests digests{ContentDigests(cache)};
  for (const OfflineTarget& target : targets) {
    const auto rows = offline::family_compiler(target.family).tools_for(target);
    BuildTarget built;
    built.target = offline::recorded_target(target);
    built.label = built.target.spec;
    CLBIN_TRY_ASSIGN(auto tools, offline::find_tools(built.label, rows, options.tools));
    built.compiler = job.compilers.size();
    built.compiler_target = jobs.size();
    CLBIN_TRY_ASSIGN(built.compiler_facts, digests.ingredients_of(tools));
    if (job.contents) {
      built.shared_facts = offline::shared_ingredients_of(tools, *job.contents);
    }
    jobs.push_back(
        {target, std::move(tools), built.compiler_facts, tested_versions(rows, options)});
    job.targets.push_back(std::move(built));
  }
  if (!jobs.empty()) {
    job.compilers.push_back(std::make_shared<offline::OfflineCompiler>(
        std::move(jobs), settings, std::chrono::seconds(options.timeout_seconds),
        SealedFiles(cache, SealedKind::preparation)));
  }
  return {};
}

} // namespace oclcc
