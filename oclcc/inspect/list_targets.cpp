#include "command_line/modes.hpp"

#include "offline/offline_compiler.hpp"
#include "terminal/report_json.hpp"
#include "worker/worker_process.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace oclcc {

using clbin::base::JsonArray;
using clbin::base::JsonObject;
using clbin::base::Result;
using offline::OfflineTarget;

namespace {

struct ListedTarget {
  std::string spelling;
  std::vector<std::string> missing_packages{}; // of the distribution at hand
  std::string problem{};                       // empty if the target can be used here
};

std::string problem_of(const offline::MissingTools& missing) {
  return missing.packages.empty()
             ? fmt::format("requires the programs: {}", fmt::join(missing.files, " "))
             : fmt::format("requires the packages: {}", fmt::join(missing.packages, " "));
}

// Asks the tools that were found whether a compile would use them.
Result<void> check_versions(std::vector<offline::OfflineJob> jobs,
                            const std::vector<std::size_t>& rows, const Options& options,
                            const worker::WorkerSettings& settings,
                            const clbin::cache::CacheSettings& cache,
                            std::vector<ListedTarget>& listed) {
  CLBIN_TRY_ASSIGN(const worker::WorkerSettings workers, worker::with_home(settings));
  offline::OfflineCompiler compiler(std::move(jobs), workers,
                                    std::chrono::seconds(options.timeout_seconds),
                                    SealedFiles(cache, SealedKind::preparation));
  for (std::size_t job = 0; job < rows.size(); ++job) {
    if (const auto tested = compiler.require_tested_tools(job); !tested) {
      listed[rows[job]].problem = tested.error().message;
    }
  }
  return {};
}

Result<std::vector<ListedTarget>> find_targets(const Options& options,
                                               const worker::WorkerSettings& settings,
                                               const clbin::cache::CacheSettings& cache) {
  const std::string debian = offline::debian_release();
  offline::ToolDigests digests{ContentDigests(cache)};
  std::vector<ListedTarget> listed;
  std::vector<offline::OfflineJob> jobs;
  std::vector<std::size_t> rows; // of the jobs
  for (const OfflineTarget& target : offline::known_targets()) {
    listed.push_back({offline::spelling_of(target)});
    const auto missing = offline::missing_tools(
        offline::family_compiler(target.family).tools_for(target), options.tools, debian);
    if (!missing.is_empty()) {
      listed.back().missing_packages = missing.packages;
      listed.back().problem = problem_of(missing);
      continue;
    }
    CLBIN_TRY_ASSIGN(auto job, offline::find_job(target, options.tools, digests));
    if (!job.tested_versions.empty()) {
      rows.push_back(listed.size() - 1);
      jobs.push_back(std::move(job));
    }
  }
  if (!jobs.empty()) {
    CLBIN_TRY(check_versions(std::move(jobs), rows, options, settings, cache, listed));
  }
  return listed;
}

std::string spellings_of(const std::vector<OfflineTarget>& targets) {
  std::vector<std::string> spellings;
  std::transform(targets.begin(), targets.end(), std::back_inserter(spellings),
                 offline::spelling_of);
  return fmt::format("{}", fmt::join(spellings, " "));
}

std::string text_of(const std::vector<ListedTarget>& targets) {
  std::size_t width = 0;
  for (const ListedTarget& target : targets) {
    width = std::max(width, target.spelling.size());
  }
  std::string text;
  for (const ListedTarget& target : targets) {
    text += target.problem.empty()
                ? target.spelling + "\n"
                : fmt::format("{:<{}}  {}\n", target.spelling, width, target.problem);
  }
  for (const offline::TargetGroup& group : offline::target_groups()) {
    text += fmt::format("{} = {}\n", group.name, spellings_of(group.targets));
  }
  return text;
}

std::string json_of(const std::vector<ListedTarget>& targets) {
  JsonArray items;
  for (const ListedTarget& target : targets) {
    JsonObject members;
    members["target"].value = target.spelling;
    members["usable"].value = target.problem.empty();
    members["problem"].value = target.problem;
    JsonArray packages;
    for (const std::string& package : target.missing_packages) {
      packages.emplace_back().value = package;
    }
    members["missing_packages"].value = std::move(packages);
    items.emplace_back().value = std::move(members);
  }
  JsonObject groups;
  for (const offline::TargetGroup& group : offline::target_groups()) {
    JsonArray members;
    for (const OfflineTarget& target : group.targets) {
      members.emplace_back().value = offline::spelling_of(target);
    }
    groups[group.name].value = std::move(members);
  }
  JsonObject report;
  report["targets"].value = std::move(items);
  report["groups"].value = std::move(groups);
  return report_json(std::move(report));
}

} // namespace

ExitCode list_targets(const Options& options, const worker::WorkerSettings& settings,
                      const clbin::cache::CacheSettings& cache, Reporter& reporter) {
  const auto known = offline::require_known_tools(options.tools);
  const auto targets =
      known ? find_targets(options, settings, cache) : tl::unexpected(known.error());
  if (!targets) {
    reporter.error(targets.error());
    return exit_code_of(targets.error().code);
  }
  const std::string text =
      options.list_format == ListFormat::json ? json_of(*targets) : text_of(*targets);
  return reporter.print(text) ? ExitCode::success : ExitCode::file;
}

} // namespace oclcc
