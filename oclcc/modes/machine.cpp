#include "command_line/modes.hpp"

#include "targets/machine_description.hpp"
#include "targets/offline_compiler.hpp"
#include "targets/patterns.hpp"
#include "terminal/terminal_text.hpp"
#include "worker/installed_devices.hpp"

#include <fmt/format.h>

namespace oclcc {

using offline::OfflineTarget;
using worker::DeviceDescription;

namespace {

using Row = std::vector<std::string>;

// Returns a line a row. All cells but the last of a row are padded to the width of their column.
std::string aligned(const std::vector<Row>& rows, std::string_view indent = "") {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    std::ranges::transform(row, widths, widths.begin(), [](const auto& cell, auto width) {
      return std::max(width, cell.size());
    });
  }
  std::string text;
  for (const Row& row : rows) {
    text += indent;
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      text += fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    text += row.back() + "\n";
  }
  return text;
}

std::string line_a_device(const std::vector<DeviceDescription>& devices) {
  std::vector<Row> rows;
  rows.reserve(devices.size());
  for (const DeviceDescription& device : devices) {
    rows.push_back({device_number(device), std::string(device_type_name(device.type)),
                    printable(device.identity.platform_name),
                    printable(device.identity.device_name),
                    printable(device.identity.driver_version)});
  }
  return aligned(rows);
}

// All properties of a device that are not empty.
std::string table_of(const DeviceDescription& device) {
  std::vector<Row> rows = {{"platform", device.identity.platform_name},
                           {"platform version", device.identity.platform_version},
                           {"architecture", device.identity.architecture},
                           {"library", device.driver_library}};
  for (const auto& [label, value] : device.properties) {
    rows.push_back({printable(label), value});
  }
  std::erase_if(rows, [](const Row& row) { return row.back().empty(); });
  for (Row& row : rows) {
    row.back() = printable(row.back());
  }
  return fmt::format("{}  {}\n{}", device_number(device), printable(device.identity.device_name),
                     aligned(rows, "    "));
}

JsonObject device_json(const DeviceDescription& device) {
  JsonObject members = identity_json(device.identity);
  members["id"] = {device_number(device)};
  members["platform_index"] = {std::uint64_t{device.platform}};
  members["device_index"] = {std::uint64_t{device.device}};
  members["type"] = {std::string(device_type_name(device.type))};
  members["compiler_available"] = {device.compiler_available};
  JsonObject properties;
  for (const auto& [label, value] : device.properties) {
    properties[label] = {value};
  }
  members["properties"] = {std::move(properties)};
  return members;
}

std::string text_of(const Options& options, const std::vector<DeviceDescription>& devices) {
  if (options.list_format == ListFormat::json) {
    return report_json({{"devices", {array_of(devices, device_json)}}});
  }
  if (options.verbosity != Verbosity::verbose) {
    return line_a_device(devices);
  }
  std::vector<std::string> tables;
  std::ranges::transform(devices, std::back_inserter(tables), table_of);
  return fmt::format("{}", fmt::join(tables, "\n"));
}

struct ListedTarget {
  std::string spelling;
  std::vector<std::string> missing_packages{}; // of the distribution at hand
  std::string problem{};                       // empty if the target can be used here
  offline::Words extensions{};                 // requestable_extensions()
};

Result<std::vector<ListedTarget>> find_targets(const Options& options,
                                               const worker::WorkerSettings& settings,
                                               const clbin::cache::CacheSettings& cache) {
  const std::string debian = offline::debian_release();
  offline::ToolDigests digests{ContentDigests(cache)};
  std::vector<ListedTarget> listed;
  std::vector<offline::OfflineJob> jobs;
  std::vector<std::size_t> rows; // of the jobs
  for (const OfflineTarget& target : offline::known_targets()) {
    listed.push_back(
        {offline::spelling_of(target), {}, {}, offline::requestable_extensions(target)});
    const auto missing = offline::missing_tools(
        offline::family_compiler(target.family).tools_for(target), options.tools, debian);
    if (!missing.is_empty()) {
      listed.back().missing_packages = missing.packages;
      listed.back().problem =
          missing.packages.empty()
              ? fmt::format("requires the programs: {}", fmt::join(missing.files, " "))
              : fmt::format("requires the packages: {}", fmt::join(missing.packages, " "));
      continue;
    }
    CLBIN_TRY_ASSIGN(auto job, offline::find_job(target, options.tools, digests));
    if (job.depends_on_versions()) {
      rows.push_back(listed.size() - 1);
      jobs.push_back(std::move(job));
    }
  }
  if (jobs.empty()) {
    return listed;
  }
  // Asks the tools that were found whether a compile would use them.
  CLBIN_TRY_ASSIGN(const worker::WorkerSettings workers, worker::with_home(settings));
  const auto compiler = offline::make_offline_compiler(
      std::move(jobs), workers, std::chrono::seconds(options.timeout_seconds),
      SealedFiles(cache, SealedKind::preparation));
  for (std::size_t job = 0; job < rows.size(); ++job) {
    if (const auto tested = compiler->require_tested_tools(job); !tested) {
      listed[rows[job]].problem = tested.error().message;
    }
  }
  return listed;
}

std::vector<std::string> spellings_of(const std::vector<OfflineTarget>& targets) {
  std::vector<std::string> spellings;
  std::ranges::transform(targets, std::back_inserter(spellings), offline::spelling_of);
  return spellings;
}

std::string text_of(const std::vector<ListedTarget>& targets, Verbosity verbosity) {
  std::vector<Row> rows;
  rows.reserve(targets.size());
  for (const ListedTarget& target : targets) {
    rows.push_back(target.problem.empty() ? Row{target.spelling}
                                          : Row{target.spelling, target.problem});
  }
  const std::string lines = aligned(rows);
  std::string_view rest = lines;
  std::string text;
  for (const ListedTarget& target : targets) {
    text += fmt::format("{}\n", offline::take_line(rest));
    if (verbosity == Verbosity::verbose && !target.extensions.empty()) {
      text += fmt::format("    -cl-ext=+{}\n", fmt::join(target.extensions, ",+"));
    }
  }
  for (const offline::TargetGroup& group : offline::target_groups()) {
    text += fmt::format("{} = {}\n", group.name, fmt::join(spellings_of(group.targets), " "));
  }
  return text;
}

JsonObject target_json(const ListedTarget& target) {
  return {{"target", {target.spelling}},
          {"usable", {target.problem.empty()}},
          {"problem", {target.problem}},
          {"missing_packages", strings_json(target.missing_packages)},
          {"extensions", strings_json(target.extensions)}};
}

std::string json_of(const std::vector<ListedTarget>& targets) {
  JsonObject groups;
  for (const offline::TargetGroup& group : offline::target_groups()) {
    groups[group.name] = strings_json(spellings_of(group.targets));
  }
  return report_json(
      {{"targets", {array_of(targets, target_json)}}, {"groups", {std::move(groups)}}});
}

// The devices that units can be built for. Lists each identity once.
std::vector<DeviceDescription> distinct_devices(std::vector<DeviceDescription> all) {
  std::vector<DeviceDescription> distinct;
  for (DeviceDescription& device : all) {
    const auto known = std::ranges::find(distinct, device.identity, &DeviceDescription::identity);
    if (device.compiler_available && known == distinct.end()) {
      distinct.push_back(std::move(device));
    }
  }
  return distinct;
}

// The programs of every target that can be used here.
Result<std::vector<MachineTools>> installed_tools(const Options& options) {
  std::vector<MachineTools> all;
  offline::ToolDigests digests{ContentDigests(clbin::cache::CacheSettings())};
  for (const offline::OfflineTarget& target : offline::known_targets()) {
    const std::string spelling = offline::spelling_of(target);
    const auto job = offline::find_job(target, options.tools, digests);
    if (!job && job.error().code == ErrorCode::no_device) {
      continue; // they are not installed
    }
    if (!job) {
      return tl::unexpected(job.error());
    }
    const std::string feature = tools_feature(spelling, job->tool_facts);
    const auto known = std::ranges::find(all, feature, &MachineTools::feature);
    if (known == all.end()) {
      all.push_back({feature, {spelling}});
    } else {
      known->targets.push_back(spelling);
    }
  }
  return all;
}

Result<MachineDescription> describe_machine(const Options& options,
                                            const worker::WorkerSettings& settings,
                                            Reporter& reporter) {
  MachineDescription machine;
  CLBIN_TRY(offline::require_known_tools(options.tools));
  CLBIN_TRY_ASSIGN(machine.tools, installed_tools(options));
  CLBIN_TRY_ASSIGN(const worker::WorkerSettings workers, worker::with_home(settings));
  auto installed = worker::find_installed_devices(workers, worker::PropertyQuery::skip);
  if (!installed && machine.tools.empty()) {
    return tl::unexpected(installed.error());
  }
  if (!installed) {
    reporter.note(fmt::format("only for offline targets: {}", installed.error().message));
    return machine;
  }
  for (const std::string& failure : installed->failures) {
    reporter.warning(failure);
  }
  machine.devices = distinct_devices(std::move(installed->devices));
  return machine;
}

} // namespace

Result<ExitCode> list_devices(const Options& options, const ModeContext& context) {
  const bool whole =
      options.list_format == ListFormat::json || options.verbosity == Verbosity::verbose;
  CLBIN_TRY_ASSIGN(const auto workers, worker::with_home(context.workers));
  CLBIN_TRY_ASSIGN(const auto installed,
                   worker::find_installed_devices(workers, whole ? worker::PropertyQuery::ask
                                                                 : worker::PropertyQuery::skip));
  for (const std::string& failure : installed.failures) {
    context.reporter.warning(failure);
  }
  CLBIN_TRY_ASSIGN(const auto devices, select_devices(installed.devices, options.device_patterns));
  return print_result(text_of(options, devices), context.reporter);
}

Result<ExitCode> list_targets(const Options& options, const ModeContext& context) {
  CLBIN_TRY(offline::require_known_tools(options.tools));
  CLBIN_TRY_ASSIGN(const auto targets, find_targets(options, context.workers,
                                                    clbin::cache::CacheSettings::from_environment(
                                                        context.environment)));
  return print_result(options.list_format == ListFormat::json ? json_of(targets)
                                                              : text_of(targets, options.verbosity),
                      context.reporter);
}

Result<ExitCode> identity(const Options& options, const ModeContext& context) {
  CLBIN_TRY_ASSIGN(const MachineDescription machine,
                   describe_machine(options, context.workers, context.reporter));
  return print_result(options.list_format == ListFormat::json
                          ? report_json(machine_json(machine))
                          : fmt::format("Feature={}\n", fmt::join(features_of(machine), ",")),
                      context.reporter);
}

} // namespace oclcc
