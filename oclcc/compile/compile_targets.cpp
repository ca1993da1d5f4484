#include "compile/compile_job.hpp"

#include "targets/offline_compiler.hpp"

#include <fmt/format.h>

namespace oclcc {

using offline::OfflineTarget;
using worker::DeviceDescription;

namespace {

std::string label_of(const DeviceDescription& device,
                     const std::vector<DeviceDescription>& devices) {
  const std::string& name = device.identity.device_name;
  const auto has_name = [&](const DeviceDescription& other) {
    return other.identity.device_name == name;
  };
  return std::ranges::count_if(devices, has_name) == 1
             ? name
             : fmt::format("{} ({}:{})", name, device.platform, device.device);
}

// In one order, so that that of the options does not matter.
Result<std::vector<OfflineTarget>> wanted_targets(const Options& options) {
  std::vector<OfflineTarget> wanted;
  for (const std::string& specification : options.targets) {
    CLBIN_TRY_ASSIGN(const auto targets, offline::parse_targets(specification));
    wanted.insert(wanted.end(), targets.begin(), targets.end());
  }
  return offline::in_order(wanted);
}

bool is_nvidias_device(const BuildTarget& target) {
  return target.device && format::target_family(target.target) == format::DeviceFamily::nvidia;
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

std::vector<BuildTarget> device_targets(const std::vector<DeviceDescription>& devices) {
  std::vector<BuildTarget> targets;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    BuildTarget target;
    target.target.identity = devices[i].identity;
    target.device = devices[i];
    target.label = label_of(devices[i], devices);
    target.compiler_target = i;
    targets.push_back(std::move(target));
  }
  return targets;
}

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
    auto offline_job = offline::find_job(target, options.tools, digests);
    if (!offline_job) {
      CLBIN_TRY(offline::require_tools(targets, options.tools)); // names what the others lack, too
      return tl::unexpected(offline_job.error());
    }
    BuildTarget built;
    built.target = offline::recorded_target(target);
    built.label = built.target.spec;
    built.compiler = job.compilers.size();
    built.compiler_target = jobs.size();
    built.compiler_facts = offline_job->tool_facts;
    if (job.contents) {
      built.shared_facts = offline::shared_ingredients_of(offline_job->tools, *job.contents);
    }
    jobs.push_back(*std::move(offline_job));
    job.targets.push_back(std::move(built));
  }
  if (!jobs.empty()) {
    job.compilers.push_back(offline::make_offline_compiler(
        std::move(jobs), settings, std::chrono::seconds(options.timeout_seconds),
        SealedFiles(cache, SealedKind::preparation)));
  }
  return {};
}

Result<void> add_cubin_targets(Job& job, const worker::WorkerSettings& settings,
                               std::chrono::seconds timeout) {
  if (std::ranges::none_of(job.targets, is_nvidias_device)) {
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
      offline::make_ptxas_compiler(tool, std::move(architectures), settings, timeout));
  return {};
}

} // namespace oclcc
