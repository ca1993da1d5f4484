#include "command_line/modes.hpp"

#include "listing/bundle_summary.hpp"
#include "loader/ladder.hpp"
#include "matching/variant_choice.hpp"
#include "modes/entry_trials.hpp"
#include "targets/patterns.hpp"
#include "trust/bundle_encryption.hpp"

#include <fmt/format.h>

namespace oclcc {

namespace matching = clbin::matching;
using clbin::loader::Decision;
using clbin::loader::Origin;
using LoadStep = clbin::loader::Step;
using matching::Rule;

namespace {

// One entry on one device.
struct Step {
  std::uint32_t entry = 0; // among those of its variant
  std::string target;
  Rule rule = Rule::not_compatible;
  matching::Turn turn = matching::Turn::after_user_cache;
  Decision decision = Decision::not_attempted;
  std::string reason;
  std::optional<std::size_t> trial; // of Explanation::trials; steps can share one
  bool is_buildable = false;        // IL whose recorded options may reach a driver
};

// One variant of a program on one device.
struct Ladder {
  std::size_t device = 0;
  format::GroupView group;
  std::vector<Step> steps{}; // best first, then those that do not fit
  bool has_source = false;
  std::string source_obstacle{}; // the reason why the source would not be built
  Origin served_by = Origin::none;
  std::vector<std::string> lacking{}; // of what the variant requires, by the device
  std::string measured{};             // why measurements rank the variant; empty if they do not
  std::size_t measured_rank = ~std::size_t{0};
  bool is_chosen = false; // by a load that names no variant
};

// Plans a trial of a matching entry, unless its bytes or options must not reach a driver. IL is not
// tried.
Result<void> plan_step(const matching::Candidate& candidate, const Ladder& ladder, TrialPlan& plan,
                       Step& step) {
  const Result<void> may_serve =
      clbin::loader::check_extensions(ladder.lacking, candidate.entry.options.str());
  if (!may_serve && candidate.rule != Rule::not_compatible) {
    step.reason = may_serve.error().message;
    return {};
  }
  if (candidate.rule == Rule::il) {
    const Result<void> checked = plan.check_options(candidate.entry.options);
    step.is_buildable = checked.has_value() && ladder.lacking.empty();
    step.reason = checked ? step.reason : checked.error().message;
    return {};
  }
  if (candidate.rule != Rule::exact_identity && candidate.rule != Rule::compatible) {
    return {};
  }
  const Result<std::size_t> trial = plan.add(candidate, ladder.device);
  if (trial) {
    step.trial = *trial;
    return {};
  }
  if (trial.error().code == ErrorCode::limit_exceeded) {
    return tl::unexpected(trial.error());
  }
  step.reason = trial.error().message;
  if (trial.error().code != ErrorCode::unsafe_options) {
    step.decision = Decision::unreadable;
  }
  return {};
}

Result<Ladder> plan_ladder(const format::BundleReader& bundle, const format::GroupView& group,
                           const TrialDevices& devices, std::size_t device, TrialPlan& plan,
                           format::TextBudget& budget) {
  CLBIN_TRY(budget.take(group)); // its names are printed
  Ladder ladder{device, group};
  ladder.lacking =
      clbin::loader::lacking_extensions(group.required, devices.all()[device].extensions);
  ladder.has_source = group.source_blob != format::k_no_index;
  if (const auto checked = plan.check_options(group.options); !checked) {
    ladder.source_obstacle = checked.error().message;
  }
  if (!ladder.lacking.empty()) {
    ladder.source_obstacle = fmt::format("the device does not have {}, which the variant requires",
                                         fmt::join(ladder.lacking, ", "));
  }
  CLBIN_TRY_ASSIGN(const auto candidates,
                   matching::explain_candidates(bundle, group, devices.all()[device].identity));
  for (const matching::Candidate& candidate : candidates) {
    Step step;
    step.entry = candidate.entry.index - group.first_entry;
    step.target = target_name(candidate.entry.target);
    step.rule = candidate.rule;
    step.turn = candidate.turn;
    step.reason = candidate.reason;
    CLBIN_TRY(budget.take(sizeof step + step.target.size() + step.reason.size()));
    CLBIN_TRY(plan_step(candidate, ladder, plan, step));
    ladder.steps.push_back(std::move(step));
  }
  return ladder;
}

// Decides about the entries of a step of a load, in order.
void settle_entries(Ladder& ladder, matching::Turn turn, const std::vector<Trial>& trials) {
  bool has_loaded = ladder.served_by != Origin::none;
  for (Step& step : ladder.steps) {
    if (step.turn == turn && step.trial.has_value()) {
      const Decision alone = trials[*step.trial].decision;
      step.decision = alone == Decision::loaded && has_loaded ? Decision::accepted : alone;
      has_loaded = has_loaded || step.decision == Decision::loaded;
    }
  }
}

// Returns whether the step of a load, whose entries are settled, would provide the program. The
// user cache is left out.
bool serves(const Ladder& ladder, LoadStep load_step) {
  const auto has = [&](auto fits) { return std::ranges::any_of(ladder.steps, fits); };
  switch (load_step) {
  case LoadStep::own_entries:
  case LoadStep::compatible_entries:
    return has([](const Step& step) { return step.decision == Decision::loaded; });
  case LoadStep::user_cache:
  case LoadStep::build_of_others:
    return false;
  case LoadStep::recompiled_entry:
    return has([](const Step& step) { return step.decision == Decision::recompiled; });
  case LoadStep::il:
    return has([](const Step& step) { return step.is_buildable; });
  case LoadStep::source:
    return ladder.has_source && ladder.source_obstacle.empty();
  }
  return false;
}

// Follows the steps of a load that has no special requests.
void settle(Ladder& ladder, const std::vector<Trial>& trials) {
  clbin::loader::LoadRequest request;
  request.devices.resize(1);
  for (const LoadStep load_step : clbin::loader::steps_of(request)) {
    if (const auto turn = clbin::loader::turn_of(load_step)) {
      settle_entries(ladder, *turn, trials);
    }
    if (ladder.served_by == Origin::none && serves(ladder, load_step)) {
      ladder.served_by = clbin::loader::origin_of(load_step);
    }
  }
}

// Looks up which variants of a program were the fastest on a device. Work-groups and local memory
// count as large enough.
Result<void> rank_ladders(const format::BundleReader& bundle,
                          const worker::DeviceDescription& device, std::span<Ladder> ladders) {
  const clbin::matching::DeviceLimits limits{format::measured_device(device.identity, device.type)};
  std::map<std::string, matching::MeasuredChoice> choices; // by program
  for (Ladder& ladder : ladders) {
    const auto [choice, is_new] = choices.try_emplace(ladder.group.program.str());
    if (is_new) {
      CLBIN_TRY_ASSIGN(choice->second,
                       matching::choose_measured(bundle, ladder.group.program.str(), limits));
    }
    const auto& groups = choice->second.groups;
    const auto place = std::ranges::find(groups, ladder.group.index, &format::GroupView::index);
    if (place != groups.end()) {
      ladder.measured = matching::measured_reason(choice->second, ladder.group);
      ladder.measured_rank = static_cast<std::size_t>(place - groups.begin());
    }
  }
  return {};
}

// Whether a load that names no variant tries `a` before `b`.
bool is_tried_before(const Ladder& a, const Ladder& b) {
  return a.measured_rank != b.measured_rank ? a.measured_rank < b.measured_rank
                                            : clbin::loader::is_tried_before(a.group, b.group);
}

// Decides which variant of each program a load uses that names none.
void choose_variants(std::vector<Ladder>& ladders) {
  std::map<std::pair<std::size_t, std::string>, Ladder*> chosen; // by device and program
  for (Ladder& ladder : ladders) {
    const bool is_candidate = !ladder.measured.empty() || !ladder.group.required.empty() ||
                              ladder.group.variant == format::k_default_variant;
    Ladder*& best = chosen[{ladder.device, ladder.group.program.str()}];
    if (is_candidate && ladder.served_by != Origin::none &&
        (best == nullptr || is_tried_before(ladder, *best))) {
      best = &ladder;
    }
  }
  for (const auto& [place, ladder] : chosen) {
    if (ladder != nullptr) {
      ladder->is_chosen = true;
    }
  }
}

// The outcome and the build log of an attempt: "clBuildProgram answered CL_…", "the compiler of …
// crashed".
std::pair<std::string, std::string_view> outcome_of(const Step& step,
                                                    const std::vector<Trial>& trials) {
  if (!step.trial) {
    return {};
  }
  const Trial& trial = trials[*step.trial];
  return {trial.outcome +
              (step.decision == Decision::accepted ? ", but a better entry also loads" : ""),
          trial.driver_log};
}

std::string conclusion(const Ladder& ladder) {
  switch (ladder.served_by) {
  case Origin::entry:
    return "the bundle's binary loads";
  case Origin::il:
    return "the driver would build IL";
  case Origin::source:
    return "the driver would build the source";
  case Origin::user_cache:
  case Origin::none:
    break;
  }
  return ladder.has_source ? "nothing loads: " + ladder.source_obstacle
                           : "nothing loads: no entry loads, and the bundle contains no source";
}

// Of a variant that requires extensions or was measured; otherwise empty.
std::string requirement_of(const Ladder& ladder) {
  std::string text;
  if (!ladder.measured.empty() && ladder.is_chosen) {
    text = ", " + ladder.measured;
  }
  if (!ladder.group.required.empty()) {
    text += fmt::format(", which requires {}", fmt::join(ladder.group.required, ", "));
  }
  return text.empty() || !ladder.is_chosen ? text
                                           : text + " and is used if a load names no variant";
}

std::string text_of(const Ladder& ladder, const std::vector<Trial>& trials) {
  std::string text = fmt::format("  program '{}', variant '{}'{}: {}\n",
                                 printable(ladder.group.program), printable(ladder.group.variant),
                                 printable(requirement_of(ladder)), printable(conclusion(ladder)));
  for (const Step& step : ladder.steps) {
    text +=
        fmt::format("    {}, {}, entry for {}: {}", clbin::loader::to_string(step.decision),
                    matching::to_string(step.rule), printable(step.target), printable(step.reason));
    const auto [outcome, log] = outcome_of(step, trials);
    text += outcome.empty() ? "\n" : fmt::format("; {}\n", printable(outcome));
    for (const std::string_view line : base::split_lines(log)) {
      text += fmt::format("        {}\n", printable(line));
    }
  }
  return text;
}

JsonValue step_json(const Step& step, const std::vector<Trial>& trials) {
  const auto [outcome, log] = outcome_of(step, trials);
  return {JsonObject{
      {"entry", {std::uint64_t{step.entry}}},
      {"target", {step.target}},
      {"rule", {std::string(matching::to_string(step.rule))}},
      {"decision", {std::string(clbin::loader::to_string(step.decision))}},
      {"reason", {step.reason}},
      {"outcome", {outcome}},
      {"driver_log", {std::string(log)}},
  }};
}

void write_json(const Ladder& ladder, const std::vector<Trial>& trials, JsonStream& document) {
  document.begin_object();
  document.member("chosen", {ladder.is_chosen});
  document.member("conclusion", {conclusion(ladder)});
  if (ladder.is_chosen && !ladder.measured.empty()) {
    document.member("measured", {ladder.measured});
  }
  document.member("program", {ladder.group.program});
  document.member("requires", base::strings_json(ladder.group.required));
  document.member("served_by", {std::string(clbin::loader::to_string(ladder.served_by))});
  document.array_member("steps", ladder.steps,
                        [&](const Step& step) { document.value(step_json(step, trials)); });
  document.member("variant", {ladder.group.variant});
  document.end();
}

// The ladders of one bundle, grouped by device.
struct Explanation {
  std::string file;
  std::vector<Ladder> ladders;
  std::vector<Trial> trials;
  // By device: the names of packs with binaries for it that are not part of the bundle.
  std::vector<std::set<std::string>> absent_packs{};
};

Result<Explanation> explain_one(const std::filesystem::path& path, const BundleKeys& keys,
                                TrialDevices& devices) {
  CLBIN_TRY_ASSIGN(const format::BundleReader bundle, open_readable_bundle(path, keys));
  CLBIN_TRY(devices.find());
  CLBIN_TRY_ASSIGN(const auto packs, bundle.packs());
  TrialPlan plan(bundle);
  Explanation explanation{bundle_name(path), {}, {}};
  for (std::size_t device = 0; device < devices.all().size(); ++device) {
    auto& absent = explanation.absent_packs.emplace_back();
    for (const auto& pack : matching::packs_for(packs, devices.all()[device].identity)) {
      absent.insert(pack.name.str());
    }
    format::TextBudget budget(bundle.total_bytes()); // output grows with the devices
    for (std::uint32_t index = 0; index < bundle.group_count(); ++index) {
      CLBIN_TRY_ASSIGN(const format::GroupView group, bundle.group(index));
      CLBIN_TRY_ASSIGN(Ladder ladder, plan_ladder(bundle, group, devices, device, plan, budget));
      explanation.ladders.push_back(std::move(ladder));
    }
    CLBIN_TRY(rank_ladders(bundle, devices.all()[device],
                           std::span(explanation.ladders).last(bundle.group_count())));
  }
  explanation.trials = devices.carry_out(std::move(plan), explanation.file);
  for (Ladder& ladder : explanation.ladders) {
    settle(ladder, explanation.trials);
  }
  choose_variants(explanation.ladders);
  return explanation;
}

// Prints in parts, because entries that share a trial repeat its build log.
bool print_text(const Explanation& explanation, const TrialDevices& devices, Reporter& reporter) {
  constexpr std::size_t k_part_bytes = 1U << 20U;
  std::string text;
  for (std::size_t device = 0; device < devices.all().size(); ++device) {
    const worker::DeviceDescription& known = devices.all()[device];
    text += fmt::format(
        "{}  {} / {} / {}\n", device_number(known), printable(known.identity.platform_name),
        printable(known.identity.device_name), printable(known.identity.driver_version));
    for (const Ladder& ladder : explanation.ladders) {
      text += ladder.device == device ? text_of(ladder, explanation.trials) : std::string();
      if (text.size() >= k_part_bytes && !reporter.print(std::exchange(text, {}))) {
        return false;
      }
    }
    for (const std::string& pack : explanation.absent_packs[device]) {
      text += fmt::format("  pack '{}', which has entries for the device, is not there\n", pack);
    }
  }
  return reporter.print(text);
}

void write_json(const Explanation& explanation, const TrialDevices& devices, JsonStream& document) {
  document.begin_object();
  document.array_member("devices", devices.all(), [&](const worker::DeviceDescription& known) {
    const auto& absent =
        explanation.absent_packs[static_cast<std::size_t>(&known - devices.all().data())];
    document.begin_object();
    if (!absent.empty()) {
      document.member("absent_packs", base::strings_json({absent.begin(), absent.end()}));
    }
    document.member("id", {device_number(known)});
    document.member("identity", {identity_json(known.identity)});
    document.array_member("ladders", explanation.ladders, [&](const Ladder& ladder) {
      if (&devices.all()[ladder.device] == &known) {
        write_json(ladder, explanation.trials, document);
      }
    });
    document.end();
  });
  document.member("file", {explanation.file});
  document.end();
}

// Prints each bundle that can be explained, or adds it to the document, if there is one.
Result<ExitCode> explain_all(const Options& options, TrialDevices& devices, JsonStream* document,
                             Reporter& reporter) {
  CLBIN_TRY_ASSIGN(const BundleKeys keys, trust::read_decryption_keys(options, reporter));
  ExitCode status = ExitCode::success;
  for (const Input& input : options.inputs) {
    const auto explanation = explain_one(input.path, keys, devices);
    if (!explanation) {
      reporter.error(named_error(explanation.error(), input.path));
      status = status == ExitCode::success ? exit_code_of(explanation.error().code) : status;
    } else if (document != nullptr) {
      write_json(*explanation, devices, *document);
    } else if ((options.inputs.size() > 1 && !reporter.print(explanation->file + ":\n")) ||
               !print_text(*explanation, devices, reporter)) {
      return ExitCode::file;
    }
  }
  return status;
}

} // namespace

Result<void> write_explanation(const std::filesystem::path& path, const BundleKeys& keys,
                               TrialDevices& devices, JsonStream& document) {
  CLBIN_TRY_ASSIGN(const Explanation explanation, explain_one(path, keys, devices));
  write_json(explanation, devices, document);
  return {};
}

Result<ExitCode> explain(const Options& options, const ModeContext& context) {
  Reporter& reporter = context.reporter;
  TrialDevices devices(options, context.workers, reporter);
  if (options.list_format != ListFormat::json) {
    return explain_all(options, devices, nullptr, reporter);
  }
  clbin::listing::BundlesJson document([&](std::string_view part) { return reporter.print(part); });
  const Result<ExitCode> status = explain_all(options, devices, &document.stream(), reporter);
  return document.finish() ? status : ExitCode::file;
}

} // namespace oclcc
