// The plan as a file of ninja(1).
#include "plan/engine_files.hpp"

#include "terminal/shell_quoting.hpp"
#include "plan/engine_text.hpp"
#include "terminal/terminal_text.hpp"

#include <algorithm>

namespace oclcc::plan {

using clbin::base::Result;

namespace {

// Ninja replaces "$$" by "$", and the shell the rest.
constexpr std::string_view k_rules = R"(
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
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
      "+,/_:.~()}{%=@[]!- #$";
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return k_known.find(c) != std::string_view::npos || static_cast<unsigned char>(c) >= 0x80;
  });
}

bool are_depfile_names(const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), is_depfile_name);
}

Result<std::string> ninja_paths(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    CLBIN_TRY_ASSIGN(const std::string path, ninja_path(name));
    text += " " + path;
  }
  return text;
}

// A value that begins a line. Ninja ignores the space before the first word.
Result<std::string> command_value(const Words& words) {
  CLBIN_TRY_ASSIGN(const std::string text, shell_text(words));
  return ninja_value(text);
}

Result<std::string> unit_statement(const PlanUnit& unit) {
  const bool has_depfile = are_depfile_names(unit.inputs) && is_depfile_name(unit.output);
  Words words = unit.options;
  if (has_depfile) {
    words.insert(words.end(), {"-MD", "-MF", unit.output + ".d"});
  }
  words.insert(words.end(), {"-o", unit.output});
  words.insert(words.end(), unit.input.begin(), unit.input.end());
  CLBIN_TRY_ASSIGN(const std::string command, command_value(words));
  CLBIN_TRY_ASSIGN(const std::string output, ninja_path(unit.output));
  CLBIN_TRY_ASSIGN(const std::string inputs,
                   ninja_paths(has_depfile ? Words{unit.inputs.front()} : unit.inputs));
  return fmt::format("build {}: {}{}\n  words ={}\n  what = {} · {} · {}\n", output,
                     has_depfile ? "unit" : "unit_of_listed_files", inputs, command,
                     ninja_value(printable(unit.target)), ninja_value(printable(unit.program)),
                     ninja_value(printable(unit.variant)));
}

Result<std::string> step_statement(const PlanStep& step, const std::string& inputs) {
  CLBIN_TRY_ASSIGN(const std::string command, command_value(step.words));
  CLBIN_TRY_ASSIGN(const std::string output, ninja_path(step.output));
  return fmt::format("build {}: step{}\n  words ={}\n", output, inputs, command);
}

// Makes the plan again if an input has changed. The names of the inputs are in a depfile if
// possible, because ninja rejects a build whose named input does not exist, even if the new plan
// does not have it.
Result<std::string> plan_statement(const Plan& plan, const Words& words, const std::string& file) {
  const bool has_depfile = are_depfile_names(plan.inputs) && is_depfile_name(file);
  Words outputs = {file, plan.merge_list};
  if (!plan.ready.empty()) {
    outputs.push_back(plan.ready);
  }
  CLBIN_TRY_ASSIGN(const std::string command, command_value(words));
  CLBIN_TRY_ASSIGN(const std::string made, ninja_paths(outputs));
  CLBIN_TRY_ASSIGN(const std::string inputs, ninja_paths(has_depfile ? Words() : plan.inputs));
  return fmt::format("build{}: plan{}\n  words ={}\n{}", made, inputs, command,
                     has_depfile ? fmt::format("  depfile = {}.d\n", ninja_value(file)) : "");
}

std::string depfile_text(const Plan& plan, const std::string& file) {
  std::string text = escape_for_make(file) + ":";
  for (const std::string& input : plan.inputs) {
    text += " \\\n " + escape_for_make(input);
  }
  return text + "\n";
}

} // namespace

Result<std::vector<EngineFile>> ninja_files(const Plan& plan, const Words& words) {
  const std::string file = plan.folder + "/plan.ninja";
  std::string text = fmt::format("# Makes '{}'; written by oclcc {}. Run ninja in the directory in "
                                 "which the plan was made.\n",
                                 ninja_value(plan.bundle), OCLCC_VERSION);
  text += k_ninja_pipe;
  text += k_rules;
  CLBIN_TRY_ASSIGN(const std::string again, plan_statement(plan, words, file));
  text += again;
  std::string merged;
  for (const PlanUnit& unit : plan.units) {
    CLBIN_TRY_ASSIGN(const std::string statement, unit_statement(unit));
    CLBIN_TRY_ASSIGN(const std::string output, ninja_path(unit.output));
    text += statement;
    merged += " " + output;
  }
  CLBIN_TRY_ASSIGN(const std::string list, ninja_path(plan.merge_list));
  CLBIN_TRY_ASSIGN(const std::string ready, ninja_path(plan.ready));
  std::string inputs = fmt::format("{}{} {} | {}", merged, ready.empty() ? "" : " ", ready, list);
  for (const PlanStep& step : plan.steps) {
    CLBIN_TRY_ASSIGN(const std::string statement, step_statement(step, inputs));
    CLBIN_TRY_ASSIGN(const std::string output, ninja_path(step.output));
    text += statement;
    inputs = " " + output;
  }
  return std::vector<EngineFile>{{file + ".d", depfile_text(plan, file)},
                                 {file, fmt::format("{}default{}\n", text, inputs)}};
}

} // namespace oclcc::plan
