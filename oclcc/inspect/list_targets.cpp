#include "inspect/list_targets.hpp"

#include "offline/offline_compiler.hpp"
#include "terminal/report_json.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace oclcc {

using clbin::base::JsonArray;
using clbin::base::JsonObject;
using offline::OfflineTarget;

namespace {

struct ListedTarget {
  std::string spelling;
  std::vector<std::string> missing_packages; // empty if the target can be used here
};

std::vector<ListedTarget> find_targets(const Options& options) {
  std::vector<ListedTarget> listed;
  for (const OfflineTarget& target : offline::known_targets()) {
    listed.push_back(
        {offline::spelling_of(target),
         offline::missing_packages(offline::family_compiler(target.family).tools_for(target),
                                   options.tools)});
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
    text += target.missing_packages.empty()
                ? target.spelling + "\n"
                : fmt::format("{:<{}}  requires the packages: {}\n", target.spelling, width,
                              fmt::join(target.missing_packages, " "));
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
    members["usable"].value = target.missing_packages.empty();
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

ExitCode list_targets(const Options& options, Reporter& reporter) {
  if (const auto known = offline::require_known_tools(options.tools); !known) {
    reporter.error(known.error());
    return exit_code_of(known.error().code);
  }
  const std::vector<ListedTarget> targets = find_targets(options);
  const std::string text =
      options.list_format == ListFormat::json ? json_of(targets) : text_of(targets);
  return reporter.print(text) ? ExitCode::success : ExitCode::file;
}

} // namespace oclcc
