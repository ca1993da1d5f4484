# Run this script in the directory in which the plan was made. It submits job arrays of the units
# whose bundles are missing, then a job that merges them, and prints the number of that job. Its
# arguments are options of sbatch for all jobs. Run it again after a failure: it submits what is
# missing.
#   OCLCC_WAIT=1     wait for the last job; exit as it does
#   OCLCC_ARRAY=N    tasks an array (default: 1000); at most MaxArraySize of slurm.conf
#   OCLCC=PATH       the oclcc of all jobs

# unit OFFSET: a task, which may run again after its node failed.
unit() {
  exec sh -c "$(sed -n "$(($1 + SLURM_ARRAY_TASK_ID))p" "$lines")"
}

# missing FIRST LAST: the lines, counted from FIRST, whose bundles do not exist: ",0,3,4".
missing() {
  number=0
  sed -n "$1,$2p" "$keys" | while read -r key; do
    test -e "$folder/units/$key.clbin" || printf ',%s' "$number"
    number=$((number + 1))
  done
}

# submit FEATURE FIRST LAST [OPTION...]
submit() {
  feature=$1 first=$2 last=$3
  shift 3
  while test "$first" -le "$last"; do
    end=$((first + ${OCLCC_ARRAY:-1000} - 1))
    test "$end" -le "$last" || end=$last
    tasks=$(missing "$first" "$end")
    if test -n "$tasks"; then
      job=$(sbatch --parsable --requeue --job-name=oclcc-unit --constraint="$feature" \
        --array="${tasks#,}" --output="$logs/%A_%a.log" "$@" "$script" unit "$first")
      jobs=$jobs:${job%%;*}
    fi
    first=$((end + 1))
  done
}

case ${1-} in
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
  submit_units "$@"
  job=$(sbatch --parsable --requeue --job-name=oclcc-merge --output="$logs/%j.log" \
    ${jobs:+--dependency=afterok$jobs --kill-on-invalid-dep=yes} ${OCLCC_WAIT:+--wait} \
    "$@" "$script" finish)
  echo "${job%%;*}" ;;
esac
