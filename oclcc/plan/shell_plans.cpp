// The plans that consist of lines of the shell: one a unit, for GNU parallel and xargs, and for the
// tasks of Slurm's job arrays.
#include "plan/engine_files.hpp"
#include "plan/engine_text.hpp"

namespace oclcc::plan {

using clbin::base::Result;

namespace {

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

} // namespace

Result<std::vector<EngineFile>> parallel_files(const Plan& plan) {
  CLBIN_TRY_ASSIGN(std::string lines, unit_lines(plan));
  CLBIN_TRY_ASSIGN(const std::string finish, finish_lines(plan));
  return std::vector<EngineFile>{{plan.folder + "/finish.sh", "set -e\n" + finish},
                                 {plan.folder + "/units.sh", std::move(lines)}};
}

Result<std::vector<EngineFile>> slurm_files(const Plan& plan) {
  CLBIN_TRY_ASSIGN(const std::string bundle, shell_word(plan.bundle));
  CLBIN_TRY_ASSIGN(const std::string folder, shell_word(plan.folder));
  CLBIN_TRY_ASSIGN(std::string lines, unit_lines(plan));
  CLBIN_TRY_ASSIGN(const std::string finish, finish_lines(plan));
  const std::string prefix = fmt::format("{}/units-{}", plan.folder, plan.id);
  return std::vector<EngineFile>{
      {prefix + ".sh", std::move(lines)},
      {prefix + ".keys", unit_keys(plan)},
      {plan.folder + "/plan.slurm", fmt::format(k_slurm_script, bundle, OCLCC_VERSION, folder,
                                                plan.id, finish, submit_lines(plan))}};
}

} // namespace oclcc::plan
