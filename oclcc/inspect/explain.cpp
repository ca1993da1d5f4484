#include "inspect/explain.hpp"

#include "format/text_budget.hpp"
#include "input/bundle_file.hpp"
#include "inspect/entry_trials.hpp"
#include "loader/load_program.hpp"
#include "loader/recorded_options.hpp"
#include "targets/target_pattern.hpp"
#include "terminal/report_json.hpp"
#include "terminal/terminal_text.hpp"

#include <algorithm>

namespace oclcc {

namespace base = clbin::base;
namespace format = clbin::format;
namespace matching = clbin::matching;
using base::Result;
using clbin::loader::Decision;
using format::JsonArray;
using format::JsonObject;
using format::JsonValue;
using matching::Rule;

namespace {

// One entry on one device.
struct Step {
  std::uint32_t entry = 0; // among those of its variant
  std::string target;
  Rule rule = Rule::not_compatible;
  Decision decision = Decision::not_attempted;
  std::string reason;
  std::string outcome; // of an attempt: "clBuildProgram answered CL_…", "the compiler of … crashed"
  std::string driver_log;
  std::optional<std::size_t> trial; // of a TrialPlan
};

// The result of libclbin: CLBIN_ORIGIN_ENTRY and so on.
enum class ServedBy : std::uint8_t { entry, il, source, nothing };

// One variant of a program on one device.
struct Ladder {
  std::size_t device = 0;
  std::string program;
  std::string variant;
  std::vector<Step> steps; // best first, then those that do not fit
  bool has_source = false;
  std::string source_obstacle; // the reason why the source would not be built
};

std::string_view served_name(ServedBy served) {
  switch (served) {
  case ServedBy::entry:
    return "entry";
  case ServedBy::il:
    return "il";
  case ServedBy::source:
    return "source";
  case ServedBy::nothing:
    break;
  }
  return "none";
}

ServedBy served_by(const Ladder& ladder) {
  const auto has = [&](auto fits) {
    return std::any_of(ladder.steps.begin(), ladder.steps.end(), fits);
  };
  if (has([](const Step& step) { return step.decision == Decision::loaded; })) {
    return ServedBy::entry;
  }
  if (has([](const Step& step) {
        return step.decision == Decision::recompiled || step.rule == Rule::il;
      })) {
    return ServedBy::il;
  }
  return ladder.has_source && ladder.source_obstacle.empty() ? ServedBy::source : ServedBy::nothing;
}

// Plans a trial of a matching entry, unless its bytes or options must not reach a driver.
Result<void> plan_step(const matching::Candidate& candidate, std::size_t device, TrialPlan& plan,
                       Step& step) {
  if (candidate.rule != Rule::exact_identity && candidate.rule != Rule::compatible) {
    return {};
  }
  const Result<std::size_t> trial = plan.add(candidate, device);
  if (trial) {
    step.trial = *trial;
    return {};
  }
  if (trial.error().code == base::ErrorCode::limit_exceeded) {
    return tl::unexpected(trial.error());
  }
  step.reason = trial.error().message;
  if (trial.error().code != base::ErrorCode::unsafe_options) {
    step.decision = Decision::unreadable;
  }
  return {};
}

Result<Ladder> plan_ladder(const format::BundleReader& bundle, const format::GroupView& group,
                           const TrialDevices& devices, std::size_t device, TrialPlan& plan,
                           format::TextBudget& budget) {
  CLBIN_TRY(budget.take(group));
  Ladder ladder{device, group.program, group.variant, {}, false, {}};
  ladder.has_source = group.source_blob != format::k_no_index;
  if (const auto checked = clbin::loader::check_recorded_options(group.options); !checked) {
    ladder.source_obstacle = checked.error().message;
  }
  CLBIN_TRY_ASSIGN(const auto candidates,
                   matching::explain_candidates(bundle, group, devices.all()[device].identity));
  for (const matching::Candidate& candidate : candidates) {
    Step step;
    step.entry = candidate.entry.index - group.first_entry;
    step.target = target_name(candidate.entry.target);
    step.rule = candidate.rule;
    step.reason = candidate.reason;
    CLBIN_TRY(budget.take(sizeof step + step.target.size() + step.reason.size()));
    CLBIN_TRY(plan_step(candidate, device, plan, step));
    ladder.steps.push_back(std::move(step));
  }
  return ladder;
}

void settle(Step& step, const Trial& trial, bool has_loaded) {
  step.outcome = trial.outcome;
  step.driver_log = trial.driver_log;
  switch (trial.verdict) {
  case Trial::Verdict::refused:
    step.decision = Decision::refused;
    return;
  case Trial::Verdict::recompiled:
    step.decision = Decision::recompiled;
    return;
  case Trial::Verdict::loads:
    break;
  }
  step.decision = has_loaded ? Decision::accepted : Decision::loaded;
  step.outcome += has_loaded ? ", but a better entry does too" : "";
}

void settle_all(std::vector<Ladder>& ladders, const std::vector<Trial>& trials) {
  for (Ladder& ladder : ladders) {
    bool has_loaded = false;
    for (Step& step : ladder.steps) {
      if (step.trial.has_value()) {
        settle(step, trials[*step.trial], has_loaded);
        has_loaded = has_loaded || step.decision == Decision::loaded;
      }
    }
  }
}

std::string conclusion(const Ladder& ladder) {
  switch (served_by(ladder)) {
  case ServedBy::entry:
    return "the bundle's binary loads";
  case ServedBy::il:
    return "the driver would build IL";
  case ServedBy::source:
    return "the driver would build the source";
  case ServedBy::nothing:
    break;
  }
  return ladder.has_source ? "nothing loads: " + ladder.source_obstacle
                           : "nothing loads: no entry loads, and the bundle contains no source";
}

std::string text_of(const Ladder& ladder) {
  std::string text = fmt::format("  program '{}', variant '{}': {}\n", printable(ladder.program),
                                 printable(ladder.variant), printable(conclusion(ladder)));
  for (const Step& step : ladder.steps) {
    text +=
        fmt::format("    {}, {}, entry for {}: {}", clbin::loader::to_string(step.decision),
                    matching::to_string(step.rule), printable(step.target), printable(step.reason));
    text += step.outcome.empty() ? "\n" : fmt::format("; {}\n", printable(step.outcome));
    std::string_view log = step.driver_log;
    while (!log.empty()) {
      const std::size_t end = std::min(log.find('\n'), log.size());
      text += fmt::format("        {}\n", printable(log.substr(0, end)));
      log.remove_prefix(std::min(end + 1, log.size()));
    }
  }
  return text;
}

JsonValue json_of(const Ladder& ladder) {
  JsonArray steps;
  for (const Step& step : ladder.steps) {
    steps.push_back({JsonObject{
        {"entry", {std::uint64_t{step.entry}}},
        {"target", {step.target}},
        {"rule", {std::string(matching::to_string(step.rule))}},
        {"decision", {std::string(clbin::loader::to_string(step.decision))}},
        {"reason", {step.reason}},
        {"outcome", {step.outcome}},
        {"driver_log", {step.driver_log}},
    }});
  }
  return {JsonObject{
      {"program", {ladder.program}},
      {"variant", {ladder.variant}},
      {"served_by", {std::string(served_name(served_by(ladder)))}},
      {"conclusion", {conclusion(ladder)}},
      {"steps", {std::move(steps)}},
  }};
}

// The ladders of one bundle, grouped by device.
struct Explanation {
  std::string file;
  std::vector<Ladder> ladders;
};

Result<Explanation> explain_one(const std::filesystem::path& path, TrialDevices& devices) {
  CLBIN_TRY_ASSIGN(const format::BundleReader bundle, open_bundle(path));
  CLBIN_TRY(devices.find());
  TrialPlan plan(bundle);
  Explanation explanation{bundle_name(path), {}};
  for (std::size_t device = 0; device < devices.all().size(); ++device) {
    format::TextBudget budget(bundle.total_bytes()); // output grows with the devices
    for (std::uint32_t index = 0; index < bundle.group_count(); ++index) {
      CLBIN_TRY_ASSIGN(const format::GroupView group, bundle.group(index));
      CLBIN_TRY_ASSIGN(Ladder ladder, plan_ladder(bundle, group, devices, device, plan, budget));
      explanation.ladders.push_back(std::move(ladder));
    }
  }
  settle_all(explanation.ladders, devices.carry_out(std::move(plan), explanation.file));
  return explanation;
}

std::string text_of(const Explanation& explanation, const TrialDevices& devices) {
  std::string text;
  for (std::size_t device = 0; device < devices.all().size(); ++device) {
    const worker::DeviceDescription& known = devices.all()[device];
    text +=
        fmt::format("{}:{}  {} / {} / {}\n", known.platform, known.device,
                    printable(known.identity.platform_name), printable(known.identity.device_name),
                    printable(known.identity.driver_version));
    for (const Ladder& ladder : explanation.ladders) {
      text += ladder.device == device ? text_of(ladder) : std::string();
    }
  }
  return text;
}

JsonValue json_of(const Explanation& explanation, const TrialDevices& devices) {
  JsonArray items;
  for (std::size_t device = 0; device < devices.all().size(); ++device) {
    JsonArray ladders;
    for (const Ladder& ladder : explanation.ladders) {
      if (ladder.device == device) {
        ladders.push_back(json_of(ladder));
      }
    }
    const worker::DeviceDescription& known = devices.all()[device];
    items.push_back({JsonObject{
        {"id", {fmt::format("{}:{}", known.platform, known.device)}},
        {"identity", {identity_json(known.identity)}},
        {"ladders", {std::move(ladders)}},
    }});
  }
  return {JsonObject{{"file", {explanation.file}}, {"devices", {std::move(items)}}}};
}

} // namespace

ExitCode explain(const Options& options, const worker::WorkerSettings& settings,
                 Reporter& reporter) {
  TrialDevices devices(options, settings, reporter);
  JsonArray bundles;
  std::string text;
  ExitCode status = ExitCode::success;
  for (const Input& input : options.inputs) {
    const auto explanation = explain_one(input.path, devices);
    if (!explanation) {
      reporter.error(named_error(explanation.error(), input.path));
      status = status == ExitCode::success ? exit_code_of(explanation.error().code) : status;
      continue;
    }
    bundles.push_back(json_of(*explanation, devices));
    text += options.inputs.size() > 1 ? explanation->file + ":\n" : std::string();
    text += text_of(*explanation, devices);
  }
  if (options.list_format == ListFormat::json) {
    text = report_json({{"bundles", {std::move(bundles)}}});
  }
  return reporter.print(text) ? status : ExitCode::file;
}

} // namespace oclcc
