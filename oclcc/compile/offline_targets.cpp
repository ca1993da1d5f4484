#include "compile/compile_steps.hpp"

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
    CLBIN_TRY_ASSIGN(auto offline_job, offline::find_job(target, options.tools, digests));
    BuildTarget built;
    built.target = offline::recorded_target(target);
    built.label = built.target.spec;
    built.compiler = job.compilers.size();
    built.compiler_target = jobs.size();
    built.compiler_facts = offline_job.tool_facts;
    if (job.contents) {
      built.shared_facts = offline::shared_ingredients_of(offline_job.tools, *job.contents);
    }
    jobs.push_back(std::move(offline_job));
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
