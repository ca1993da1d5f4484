// The files of a plan, in the formats of the engines that run it: JSON (which
// oclcc/schema/plan.schema.json describes), ninja, and lines of the shell, one a unit, for GNU
// parallel, xargs and the tasks of Slurm's job arrays.
#include "compile/unit_plan.hpp"

#include "targets/embedded_files.hpp"
#include "terminal/shell_quoting.hpp"
#include "terminal/terminal_text.hpp"

namespace oclcc::plan {

namespace {

struct EngineFile {
  std::string path;
  std::string text;
};

// The files of a format, in the order in which they must be written: the last one names the others.
using EngineFiles = std::vector<EngineFile>;

// Returns what the files of every format contain of the plan.
Words texts_of(const Plan& plan) {
  Words words = {plan.bundle, plan.merge_list, plan.ready};
  for (const PlanUnit& unit : plan.units) {
    const Words command = command_of(unit);
    words.insert(words.end(), command.begin(), command.end());
    words.insert(words.end(), {unit.output, unit.program, unit.variant});
  }
  return words; // the words of the steps are made of these
}

// JSON contains only UTF-8, and a changed name would be another file.
Result<void> require_utf8(const Words& words) {
  for (const std::string& word : words) {
    for (std::string_view rest = word; !rest.empty();) {
      const std::size_t size = base::character_bytes(rest);
      if (size == 0) {
        return fail(ErrorCode::invalid_argument,
                    "a plan of '--plan=json' can contain only UTF-8, which '{}' is not",
                    printable(word));
      }
      rest.remove_prefix(size);
    }
  }
  return {};
}

std::string with_escapes(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char c : text) {
    escaped += special.find(c) == std::string_view::npos ? "" : "$";
    escaped += c;
  }
  return escaped;
}

JsonValue command_json(const Words& words) {
  Words command = {"oclcc"};
  command.insert(command.end(), words.begin(), words.end());
  return strings_json(command);
}

JsonValue unit_json(const PlanUnit& unit) {
  return {JsonObject{{"command", command_json(command_of(unit))},
                     {"feature", {unit.feature}},
                     {"inputs", strings_json(unit.inputs)},
                     {"key", {unit.key}},
                     {"output", {unit.output}},
                     {"program", {unit.program}},
                     {"target", {unit.target}},
                     {"variant", {unit.variant}}}};
}

EngineFiles json_files(const Plan& plan) {
  JsonArray units;
  std::ranges::transform(plan.units, std::back_inserter(units), unit_json);
  JsonArray steps;
  for (const PlanStep& step : plan.steps) {
    steps.push_back({JsonObject{{"command", command_json(step.words)}, {"output", {step.output}}}});
  }
  return {{plan.folder + "/plan.json", report_json({{"bundle", {plan.bundle}},
                                                    {"cached_units", {std::uint64_t{plan.cached}}},
                                                    {"inputs", strings_json(plan.inputs)},
                                                    {"merge_list", {plan.merge_list}},
                                                    {"oclcc", {std::string(OCLCC_VERSION)}},
                                                    {"ready", {plan.ready}},
                                                    {"steps", {std::move(steps)}},
                                                    {"units", {std::move(units)}}})}};
}

// Ninja replaces "$$" by "$", and the shell the rest.
constexpr std::string_view k_rules = R"(pipe = |

ninja_required_version = 1.7
oclcc = $${OCLCC:-oclcc}
rule unit
  command = $oclcc $words
  depfile = $out.d
  deps = gcc
  description = $what
rule unit_of_listed_files
  command = $oclcc $words
  description = $what
rule step
  command = $oclcc $words
  description = oclcc $words
rule plan
  command = $oclcc $words
  generator = 1
  description = oclcc $words

)";

// Ninja reads names in a depfile only if they consist of these characters, and of those that
// escape_for_make escapes (measured with ninja 1.11: it ignores any other character).
bool is_depfile_name(std::string_view name) {
  constexpr std::string_view k_known =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+,/_:.~()}{%=@[]!- #$";
  return std::ranges::all_of(name, [&](char c) {
    return k_known.find(c) != std::string_view::npos || static_cast<unsigned char>(c) >= 0x80;
  });
}

bool are_depfile_names(const std::vector<std::string>& names) {
  return std::ranges::all_of(names, is_depfile_name);
}

std::string ninja_paths(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += " " + ninja_path(name);
  }
  return text;
}

// A value that begins a line. Ninja ignores the space before the first word.
std::string command_value(const Words& words) {
  return ninja_value(shell_text(words));
}

std::string unit_statement(const PlanUnit& unit) {
  const bool has_depfile = are_depfile_names(unit.inputs) && is_depfile_name(unit.output);
  Words words = unit.options;
  if (has_depfile) {
    words.insert(words.end(), {"-MD", "-MF", unit.output + ".d"});
  }
  words.insert(words.end(), {"-o", unit.output});
  words.insert(words.end(), unit.input.begin(), unit.input.end());
  return fmt::format("build {}: {}{}\n  words ={}\n  what = {} · {} · {}\n",
                     ninja_path(unit.output), has_depfile ? "unit" : "unit_of_listed_files",
                     ninja_paths(has_depfile ? Words{unit.inputs.front()} : unit.inputs),
                     command_value(words), ninja_value(printable(unit.target)),
                     ninja_value(printable(unit.program)), ninja_value(printable(unit.variant)));
}

// Makes the plan again if an input has changed. The names of the inputs are in a depfile if
// possible, because ninja rejects a build whose named input does not exist, even if the new plan
// does not have it.
std::string plan_statement(const Plan& plan, const Words& words, const std::string& file) {
  const bool has_depfile = are_depfile_names(plan.inputs) && is_depfile_name(file);
  Words outputs = {file, plan.merge_list};
  if (!plan.ready.empty()) {
    outputs.push_back(plan.ready);
  }
  return fmt::format("build{}: plan{}\n  words ={}\n{}", ninja_paths(outputs),
                     ninja_paths(has_depfile ? Words() : plan.inputs), command_value(words),
                     has_depfile ? fmt::format("  depfile = {}.d\n", ninja_value(file)) : "");
}

std::string depfile_text(const Plan& plan, const std::string& file) {
  std::string text = escape_for_make(file) + ":";
  for (const std::string& input : plan.inputs) {
    text += " \\\n " + escape_for_make(input);
  }
  return text + "\n";
}

EngineFiles ninja_files(const Plan& plan, const Words& words) {
  const std::string file = plan.folder + "/plan.ninja";
  std::string text = fmt::format("# Makes '{}'; written by oclcc {}. Run ninja in the directory in "
                                 "which the plan was made.\n",
                                 ninja_value(plan.bundle), OCLCC_VERSION);
  text += k_rules;
  text += plan_statement(plan, words, file);
  std::string merged;
  for (const PlanUnit& unit : plan.units) {
    text += unit_statement(unit);
    merged += " " + ninja_path(unit.output);
  }
  std::string inputs = fmt::format("{}{} {} | {}", merged, plan.ready.empty() ? "" : " ",
                                   ninja_path(plan.ready), ninja_path(plan.merge_list));
  for (const PlanStep& step : plan.steps) {
    const std::string output = ninja_path(step.output);
    text +=
        fmt::format("build {}: step{}\n  words ={}\n", output, inputs, command_value(step.words));
    inputs = " " + output;
  }
  return {{file + ".d", depfile_text(plan, file)},
          {file, fmt::format("{}default{}\n", text, inputs)}};
}

constexpr std::string_view k_oclcc = "${OCLCC:-oclcc}";

// A line does nothing if the bundle exists. It is complete, because it appears by rename.
std::string unit_lines(const Plan& plan) {
  std::string text;
  for (const PlanUnit& unit : plan.units) {
    text += fmt::format("test -e {} || {}{} # {}\n", quote_for_shell(unit.output), k_oclcc,
                        shell_text(command_of(unit)), unit.feature);
  }
  return text;
}

// Not done again if the merged bundle exists, which the plan's id names.
std::string finish_lines(const Plan& plan) {
  std::string text;
  for (const PlanStep& step : plan.steps) {
    if (step.output != plan.bundle) {
      text += fmt::format("test -e {} || ", quote_for_shell(step.output));
    }
    text += fmt::format("{}{}\n", k_oclcc, shell_text(step.words));
  }
  return text;
}

std::string unit_keys(const Plan& plan) {
  std::string text;
  for (const PlanUnit& unit : plan.units) {
    text += unit.key + "\n";
  }
  return text;
}

// "submit FEATURE FIRST LAST", a line a feature, with the numbers of the first and the last line.
std::string submit_lines(const Plan& plan) {
  std::string text;
  for (std::size_t first = 0; first < plan.units.size();) {
    std::size_t end = first;
    while (end < plan.units.size() && plan.units[end].feature == plan.units[first].feature) {
      ++end;
    }
    text += fmt::format("  submit {} {} {} \"$@\"\n", plan.units[first].feature, first + 1, end);
    first = end;
  }
  return text;
}

// {0} the bundle, {1} oclcc's version, {2} the folder, {3} the plan's id, {4} its merge and repack,
// {5} what submits its units. compile/slurm.sh follows.
constexpr std::string_view k_slurm_head = R"(#!/bin/sh
# Makes {0} with Slurm; written by oclcc {1}.
set -eu
folder={2}
lines=$folder/units-{3}.sh
keys=$folder/units-{3}.keys
finish() {{
{4}}}
submit_units() {{
  :
{5}}}

)";

EngineFiles slurm_files(const Plan& plan) {
  const std::string prefix = fmt::format("{}/units-{}", plan.folder, plan.id);
  const std::string head =
      fmt::format(k_slurm_head, quote_for_shell(plan.bundle), OCLCC_VERSION,
                  quote_for_shell(plan.folder), plan.id, finish_lines(plan), submit_lines(plan));
  return {{prefix + ".sh", unit_lines(plan)},
          {prefix + ".keys", unit_keys(plan)},
          {plan.folder + "/plan.slurm", head + std::string(offline::compile_slurm())}};
}

constexpr int k_compression_level = 3; // low, because the last step compresses again

Result<EngineFiles> engine_files(const Plan& plan, const Options& options) {
  if (options.plan_format == PlanFormat::json) {
    CLBIN_TRY(require_utf8(texts_of(plan)));
    CLBIN_TRY(require_utf8(plan.inputs));
    return json_files(plan);
  }
  CLBIN_TRY(require_lines(texts_of(plan)));
  if (options.plan_format == PlanFormat::ninja) {
    CLBIN_TRY(require_lines(options.words));
    CLBIN_TRY(require_lines(plan.inputs));
    return ninja_files(plan, options.words);
  }
  if (options.plan_format == PlanFormat::slurm) {
    return slurm_files(plan);
  }
  return EngineFiles{{plan.folder + "/finish.sh", "set -e\n" + finish_lines(plan)},
                     {plan.folder + "/units.sh", unit_lines(plan)}};
}

// One bundle a line, quoted for a response file, whose quotes are those of the shell.
std::string merge_list(const Plan& plan) {
  std::string text;
  for (const PlanUnit& unit : plan.units) {
    text += in_single_quotes(unit.output) + "\n";
  }
  if (!plan.ready.empty()) {
    text += in_single_quotes(plan.ready) + "\n";
  }
  return text;
}

Result<void> write_text(const std::string& path, const std::string& text) {
  return base::write_output_file(path, std::as_bytes(std::span(text)));
}

Result<void> write_ready_bundle(const Plan& plan, Job& job, SourcePolicy source) {
  const BundleOfUnits bundle = make_bundle(job, source);
  CLBIN_TRY_ASSIGN(auto output, base::OutputFile::open(plan.ready));
  CLBIN_TRY(format::write_bundle(bundle.input,
                                 {.compression_level = k_compression_level, .spill = job.spill},
                                 [&](base::ByteView part) { return output.append(part); }));
  return output.commit();
}

} // namespace

Result<void> require_lines(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.find_first_of("\n\r") != std::string::npos) {
      return fail(ErrorCode::invalid_argument,
                  "only a plan of '--plan=json' can contain a line break, which is in '{}'",
                  printable(word));
    }
  }
  return {};
}

std::string shell_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += " " + quote_for_shell(word);
  }
  return text;
}

std::string ninja_value(std::string_view text) {
  return with_escapes(text, "$");
}

// Ninja has no escape for '|' before 1.12, but expands variables in names.
std::string ninja_path(std::string_view path) {
  std::string expanded;
  for (const char c : with_escapes(path, "$ :")) {
    expanded += c == '|' ? std::string("${pipe}") : std::string(1, c);
  }
  return expanded;
}

Result<std::string> write_plan(const Plan& plan, Job& job, const Options& options) {
  CLBIN_TRY_ASSIGN(const EngineFiles files, engine_files(plan, options));
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(plan.folder) / "units", error);
  if (error) {
    return fail(ErrorCode::file_write, "cannot create '{}/units': {}", plan.folder,
                error.message());
  }
  if (!plan.ready.empty()) {
    CLBIN_TRY(write_ready_bundle(plan, job, options.source));
  }
  CLBIN_TRY(write_text(plan.merge_list, merge_list(plan)));
  for (const EngineFile& file : files) {
    CLBIN_TRY(write_text(file.path, file.text));
  }
  return files.back().path;
}

} // namespace oclcc::plan
