// The files of a plan, in the formats of the engines that run it: JSON (which
// oclcc/schema/plan.schema.json describes), ninja, and lines of the shell, one a unit, for GNU
// parallel, xargs and the tasks of Slurm's job arrays.
#include "plan/unit_plan.hpp"

#include "base/text.hpp"
#include "compile/compile_job.hpp"
#include "terminal/shell_quoting.hpp"
#include "terminal/terminal_text.hpp"

namespace oclcc::plan {

using base::JsonObject;
using base::JsonValue;

namespace {

struct EngineFile {
  std::string path;
  std::string text;
};

// The files of a format, in the order in which they must be written: the last one names the others.
using EngineFiles = std::vector<EngineFile>;

Result<void> require_one_line(std::string_view text) {
  if (text.find_first_of("\n\r") == std::string_view::npos) {
    return {};
  }
  return fail(ErrorCode::invalid_argument,
              "only a plan of '--plan=json' can contain a line break, which is in '{}'",
              printable(text));
}

std::string with_escapes(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char c : text) {
    escaped += special.find(c) == std::string_view::npos ? "" : "$";
    escaped += c;
  }
  return escaped;
}

// Ninja has no escape for it before 1.12, but expands variables in names.
std::string with_pipes(std::string_view text) {
  std::string expanded;
  for (const char c : text) {
    expanded += c == '|' ? std::string("${pipe}") : std::string(1, c);
  }
  return expanded;
}

Result<std::string> shell_word(std::string_view word) {
  CLBIN_TRY(require_one_line(word));
  return quote_for_shell(word);
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

Result<JsonValue> words_json(const Words& words) {
  CLBIN_TRY(require_utf8(words));
  return strings_json(words);
}

Result<JsonValue> command_json(const Words& words) {
  Words command = {"oclcc"};
  command.insert(command.end(), words.begin(), words.end());
  return words_json(command);
}

Result<JsonValue> text_json(const std::string& text) {
  CLBIN_TRY(require_utf8({text}));
  return JsonValue{text};
}

Result<JsonValue> unit_json(const PlanUnit& unit) {
  JsonObject members;
  CLBIN_TRY_ASSIGN(members["command"], command_json(command_of(unit)));
  members["feature"].value = unit.feature;
  CLBIN_TRY_ASSIGN(members["inputs"], words_json(unit.inputs));
  members["key"].value = unit.key;
  CLBIN_TRY_ASSIGN(members["output"], text_json(unit.output));
  CLBIN_TRY_ASSIGN(members["program"], text_json(unit.program));
  members["target"].value = unit.target;
  CLBIN_TRY_ASSIGN(members["variant"], text_json(unit.variant));
  JsonValue value;
  value.value = std::move(members);
  return value;
}

Result<JsonValue> step_json(const PlanStep& step) {
  JsonObject members;
  CLBIN_TRY_ASSIGN(members["command"], command_json(step.words));
  CLBIN_TRY_ASSIGN(members["output"], text_json(step.output));
  JsonValue value;
  value.value = std::move(members);
  return value;
}

Result<EngineFiles> json_files(const Plan& plan) {
  base::JsonArray units;
  units.reserve(plan.units.size());
  for (const PlanUnit& unit : plan.units) {
    CLBIN_TRY_ASSIGN(JsonValue value, unit_json(unit));
    units.push_back(std::move(value));
  }
  base::JsonArray steps;
  for (const PlanStep& step : plan.steps) {
    CLBIN_TRY_ASSIGN(JsonValue value, step_json(step));
    steps.push_back(std::move(value));
  }
  JsonObject members;
  CLBIN_TRY_ASSIGN(members["bundle"], text_json(plan.bundle));
  members["cached_units"].value = std::uint64_t{plan.cached};
  CLBIN_TRY_ASSIGN(members["inputs"], words_json(plan.inputs));
  CLBIN_TRY_ASSIGN(members["merge_list"], text_json(plan.merge_list));
  members["oclcc"].value = std::string(OCLCC_VERSION);
  CLBIN_TRY_ASSIGN(members["ready"], text_json(plan.ready));
  members["steps"].value = std::move(steps);
  members["units"].value = std::move(units);
  return EngineFiles{{plan.folder + "/plan.json", report_json(std::move(members))}};
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

Result<EngineFiles> ninja_files(const Plan& plan, const Words& words) {
  const std::string file = plan.folder + "/plan.ninja";
  std::string text = fmt::format("# Makes '{}'; written by oclcc {}. Run ninja in the directory in "
                                 "which the plan was made.\n",
                                 ninja_value(plan.bundle), OCLCC_VERSION);
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
  return EngineFiles{{file + ".d", depfile_text(plan, file)},
                     {file, fmt::format("{}default{}\n", text, inputs)}};
}

constexpr std::string_view k_oclcc = "${OCLCC:-oclcc}";

// Does nothing if the bundle exists. It is complete, because it appears by rename.
Result<std::string> unit_line(const PlanUnit& unit) {
  CLBIN_TRY_ASSIGN(const std::string output, shell_word(unit.output));
  CLBIN_TRY_ASSIGN(const std::string command, shell_text(command_of(unit)));
  return fmt::format("test -e {} || {}{} # {}\n", output, k_oclcc, command, unit.feature);
}

Result<std::string> unit_lines(const Plan& plan) {
  std::string text;
  for (const PlanUnit& unit : plan.units) {
    CLBIN_TRY_ASSIGN(const std::string line, unit_line(unit));
    text += line;
  }
  return text;
}

// Not done again if the merged bundle exists, which the plan's id names.
Result<std::string> finish_lines(const Plan& plan) {
  std::string text;
  for (const PlanStep& step : plan.steps) {
    CLBIN_TRY_ASSIGN(const std::string output, shell_word(step.output));
    CLBIN_TRY_ASSIGN(const std::string command, shell_text(step.words));
    const std::string unless =
        step.output == plan.bundle ? std::string() : fmt::format("test -e {} || ", output);
    text += fmt::format("{}{}{}\n", unless, k_oclcc, command);
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
// {5} what submits its units
constexpr std::string_view k_slurm_script = R"script(#!/bin/sh
# Makes {0} with Slurm; written by oclcc {1}.
# Run it in the directory in which the plan was made. It submits job arrays of the units whose
# bundles are missing, then a job that merges them, and prints the number of that job. Its arguments
# are options of sbatch for all jobs. Run it again after a failure: it submits what is missing.
#   OCLCC_WAIT=1     wait for the last job; exit as it does
#   OCLCC_ARRAY=N    tasks an array (default: 1000); at most MaxArraySize of slurm.conf
#   OCLCC=PATH       the oclcc of all jobs
set -eu
folder={2}
lines=$folder/units-{3}.sh
keys=$folder/units-{3}.keys

# unit OFFSET: a task, which may run again after its node failed.
unit() {{
  exec sh -c "$(sed -n "$(($1 + SLURM_ARRAY_TASK_ID))p" "$lines")"
}}

finish() {{
{4}}}

# missing FIRST LAST: the lines, counted from FIRST, whose bundles do not exist: ",0,3,4".
missing() {{
  number=0
  sed -n "$1,$2p" "$keys" | while read -r key; do
    test -e "$folder/units/$key.clbin" || printf ',%s' "$number"
    number=$((number + 1))
  done
}}

# submit FEATURE FIRST LAST [OPTION...]
submit() {{
  feature=$1 first=$2 last=$3
  shift 3
  while test "$first" -le "$last"; do
    end=$((first + ${{OCLCC_ARRAY:-1000}} - 1))
    test "$end" -le "$last" || end=$last
    tasks=$(missing "$first" "$end")
    if test -n "$tasks"; then
      job=$(sbatch --parsable --requeue --job-name=oclcc-unit --constraint="$feature" \
        --array="${{tasks#,}}" --output="$logs/%A_%a.log" "$@" "$script" unit "$first")
      jobs=$jobs:${{job%%;*}}
    fi
    first=$((end + 1))
  done
}}

case ${{1-}} in
unit)
  unit "$2" ;;
finish)
  finish ;;
*)
  script=$0
  case $script in */*) ;; *) script=./$script ;; esac
  mkdir -p "$folder/log"
  logs=$(printf %s "$folder/log" | sed 's/%/%%/g')
  jobs=
{5}  job=$(sbatch --parsable --requeue --job-name=oclcc-merge --output="$logs/%j.log" \
    ${{jobs:+--dependency=afterok$jobs --kill-on-invalid-dep=yes}} ${{OCLCC_WAIT:+--wait}} \
    "$@" "$script" finish)
  echo "${{job%%;*}}" ;;
esac
)script";

Result<EngineFiles> parallel_files(const Plan& plan) {
  CLBIN_TRY_ASSIGN(std::string lines, unit_lines(plan));
  CLBIN_TRY_ASSIGN(const std::string finish, finish_lines(plan));
  return EngineFiles{{plan.folder + "/finish.sh", "set -e\n" + finish},
                     {plan.folder + "/units.sh", std::move(lines)}};
}

Result<EngineFiles> slurm_files(const Plan& plan) {
  CLBIN_TRY_ASSIGN(const std::string bundle, shell_word(plan.bundle));
  CLBIN_TRY_ASSIGN(const std::string folder, shell_word(plan.folder));
  CLBIN_TRY_ASSIGN(std::string lines, unit_lines(plan));
  CLBIN_TRY_ASSIGN(const std::string finish, finish_lines(plan));
  const std::string prefix = fmt::format("{}/units-{}", plan.folder, plan.id);
  return EngineFiles{
      {prefix + ".sh", std::move(lines)},
      {prefix + ".keys", unit_keys(plan)},
      {plan.folder + "/plan.slurm", fmt::format(k_slurm_script, bundle, OCLCC_VERSION, folder,
                                                plan.id, finish, submit_lines(plan))}};
}

constexpr int k_compression_level = 3; // low, because the last step compresses again

Result<EngineFiles> engine_files(const Plan& plan, const Options& options) {
  switch (options.plan_format) {
  case PlanFormat::ninja:
    return ninja_files(plan, options.words);
  case PlanFormat::slurm:
    return slurm_files(plan);
  case PlanFormat::parallel:
    return parallel_files(plan);
  case PlanFormat::json:
    break;
  }
  return json_files(plan);
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

Result<std::string> shell_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    CLBIN_TRY_ASSIGN(const std::string quoted, shell_word(word));
    text += " " + quoted;
  }
  return text;
}

std::string ninja_value(std::string_view text) {
  return with_escapes(text, "$");
}

Result<std::string> ninja_path(std::string_view path) {
  CLBIN_TRY(require_one_line(path));
  return with_pipes(with_escapes(path, "$ :"));
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
