#!/bin/bash
# The script of --plan=slurm submits what is missing, in arrays for each feature, and the merge after
# them. A sbatch of this test runs the jobs at once; bench/slurm_plan.sh uses Slurm itself.
# shellcheck source=tests/cli/plan/sources.bash
source "$CLI_TESTS/plan/sources.bash" one_platform
words+=(-o "out \$1%.clbin")
oclcc "${words[@]}"
mv "out \$1%.clbin" whole.clbin
plan="out \$1%.plan"
oclcc --plan=slurm "${words[@]}" --no-cache 2>&1 | counts
mkdir bin spool
cat > bin/sbatch <<'END'
#!/bin/bash
id=$(($(cat id 2> /dev/null || echo 100) + 1))
echo "$id" > id
printf '%s|' "$id" "$@" >> calls
echo >> calls
array='' after=''
while [[ $1 == --* ]]; do
  case $1 in
  --array=*) array=${1#*=} ;;
  --dependency=afterok:*) after=${1#*:} ;;
  esac
  shift
done
cp "$1" "spool/$id" # as Slurm does
shift
for job in ${after//:/ }; do
  [ ! -e "failed.$job" ] || { echo "$id;cluster"; exit 1; }
done
if [ -z "$array" ]; then
  sh "spool/$id" "$@" || exit
fi
for task in ${array//,/ }; do
  export SLURM_ARRAY_TASK_ID=$task
  sh "spool/$id" "$@" 2>> errors || touch "failed.$id"
  [ "$task" != 1 ] || sh "spool/$id" "$@" 2>> errors || touch "failed.$id" # as after a requeue
done
echo "$id;cluster"
END
chmod +x bin/sbatch
export PATH=$PWD/bin:$PATH
OCLCC_ARRAY=3 sh "$plan/plan.slurm" --partition='a b' > job
tail -1 job | cmp - id
cmp "out \$1%.clbin" whole.clbin && echo "the same"
# Every unit once, with the feature that it needs, at most three an array.
tr '|' '\n' < calls | grep -e --array= | tr ',' '\n' | wc -l | counts
tr '|' '\n' < calls | grep -c -e '--array=.*,.*,.*,'
tr '|' '\n' < calls | grep -e --constraint= | sort -u | cut -d = -f 2 > constraints
oclcc --identity | tr '=,' '\n' | grep -c -x -F -f constraints | cmp - <(wc -l < constraints)
[ "$(grep -c -F -e '--requeue' calls)" = "$(grep -c -F -e '--partition=a b' calls)" ] || cat calls
tail -1 calls | tr '|' '\n' | grep -e '^--' | sed 's/=afterok:.*/=afterok:.../'
# Run again, it submits only what is missing: two units, and the merge.
rm calls "out \$1%.clbin"
find "$plan/units" -name '*.clbin' | sort | head -2 | tr '\n' '\0' | xargs -0 rm
OCLCC_WAIT=1 sh "$plan/plan.slurm" > job
tr '|' '\n' < calls | grep -e --array= | tr ',' '\n' | wc -l
tail -1 calls | tr '|' '\n' | grep -c -x -e --wait
cmp "out \$1%.clbin" whole.clbin && echo "the same"
# A unit that fails: no merge.
rm calls "out \$1%.clbin"
find "$plan/units" -name '*.clbin' | sort | head -1 | tr '\n' '\0' | xargs -0 rm
OCLCC=false sh "$plan/plan.slurm" > job; echo "exit $?"
ls "out \$1%.clbin"
# expected exit status: 2
# expected output:
#| oclcc: note: out $1%.plan/plan.slurm: ALL units to build; 0 in the compile cache
#| the same
#| ALL
#| 0
#| --parsable
#| --requeue
#| --job-name=oclcc-merge
#| --output=out $1%%.plan/log/%j.log
#| --dependency=afterok:...
#| --kill-on-invalid-dep=yes
#| --partition=a b
#| 2
#| 1
#| the same
#| exit 1
# expected errors:
#| ls: cannot access 'out $1%.clbin': No such file or directory
