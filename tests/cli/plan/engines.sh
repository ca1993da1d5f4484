#!/bin/bash
# What each engine does with a plan.

### json
# A plan as JSON builds the bytes of one run, without what the cache contains.
# shellcheck source=tests/cli/plan/sources.bash
source "$CLI_TESTS/plan/sources.bash"
words+=(-o "out \$1.clbin")
oclcc --plan=json "${words[@]}" 2>&1 | counts
ls
plan="out \$1.plan/plan.json"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/plan.schema.json" < "$plan"
python3 "$CLI_TESTS/plan/run_plan.py" "$plan" | counts
mv "out \$1.clbin" planned.clbin
oclcc --no-cache "${words[@]}"
cmp "out \$1.clbin" planned.clbin && rm "out \$1.clbin"
# Everything is in the cache now. --no-cache ignores it.
oclcc --plan=json "${words[@]}" 2>&1 | counts
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/plan.schema.json" < "$plan"
python3 "$CLI_TESTS/plan/run_plan.py" "$plan" | counts
cmp "out \$1.clbin" planned.clbin
oclcc --plan=json "${words[@]}" --no-cache 2>&1 | counts
# Only units of another program are missing, and a module needs no unit.
cp "$ROOT/tests/unit/format/binaries/arguments.spv" module.spv
echo 'kernel void d(global int* a) { *a = 4; }' > d.cl
rm -r "out \$1."*
oclcc --plan=json "${words[@]}" d.cl module.spv 2>&1 | sed "s/: $((units / 2)) units/: HALF/" | counts
python3 "$CLI_TESTS/plan/run_plan.py" "$plan" | cut -d , -f 2- | counts
mv "out \$1.clbin" planned.clbin
oclcc "${words[@]}" d.cl module.spv
cmp "out \$1.clbin" planned.clbin
# expected output:
#| oclcc: note: out $1.plan/plan.json: ALL units to build; 0 in the compile cache
#| a|$b's.cl
#| b.cl
#| in c
#| out $1.plan
#| fits the schema
#| ALL built, 0 cached, inputs ["a|$b's.cl", 'b.cl', 'in c/h.h']
#| oclcc: note: out $1.plan/plan.json: 0 units to build; ALL in the compile cache
#| fits the schema
#| 0 built, ALL cached, inputs ["a|$b's.cl", 'b.cl', 'in c/h.h']
#| oclcc: note: out $1.plan/plan.json: ALL units to build; 0 in the compile cache
#| oclcc: note: out $1.plan/plan.json: HALF to build; ALL in the compile cache
#|  ALL cached, inputs ["a|$b's.cl", 'b.cl', 'd.cl', 'in c/h.h', 'module.spv']

### ninja
# ninja builds the bytes of one run, also after kill -9 at several moments, and builds only what an
# edit changes.
# shellcheck source=tests/cli/plan/sources.bash
source "$CLI_TESTS/plan/sources.bash" one_platform
command -v ninja > ninja_path || { echo "there is no ninja"; exit 77; }
rm ninja_path
words+=(--no-cache -o "out \$1.clbin")
oclcc "${words[@]}"
mv "out \$1.clbin" whole.clbin
plan="out \$1.plan/plan.ninja"
oclcc --plan=ninja "${words[@]}" 2>&1 | counts
: > verified # under load, a unit may be finished in none of the runs
for moment in 0.1 0.4 0.7 1.1 1.5 2.2; do
  setsid ninja -f "$plan" > log 2>&1 &
  sleep $moment
  # The shell's note that its job was killed.
  { kill -9 -- "-$!"; wait $!; } 2> /dev/null
  for unit in "out \$1.plan"/units/*.clbin; do
    [ ! -e "$unit" ] || oclcc --verify "$unit" > verified || cat verified
  done
done
ninja -f "$plan" > log || cat log
cmp "out \$1.clbin" whole.clbin && echo "the same after 6 times kill -9"
find . -type f ! -name '*.clbin' ! -name '*.cl' ! -name '*.d' ! -name h.h | sort | sed 's/-[0-9a-f]\{16\}/-ID/'
# A killed oclcc may have renamed its output, with the same bytes, while ninja ran again.
ninja -f "$plan" > log
ninja -f "$plan" | tail -1
# Touched: the units of b.cl are built again. Changed: the plan is made again, then its new units.
newer b.cl "$plan"
ninja -f "$plan" -v | grep -c -e '--unit' | sed "s/^$((units / 2))$/HALF/"
cmp "out \$1.clbin" whole.clbin
echo '#define Y 3' > 'in c/h.h'
newer 'in c/h.h' "$plan"
ninja -f "$plan" -v > log
grep -c -e '--unit' log | counts
oclcc "${words[@]/out/new}"
cmp "out \$1.clbin" "new \$1.clbin" && ! cmp -s "out \$1.clbin" whole.clbin && echo "the same after an edit"
# A unit that fails stops the build, and leaves no bundle that was not there.
rm "out \$1.clbin"
echo 'kernel void b(global float* p) { *p = undeclared; }' > b.cl
newer b.cl "$plan"
ninja -f "$plan" > log; echo "exit $?"
grep -c "error: use of undeclared identifier 'undeclared'" log | sed 's/^[1-9][0-9]*$/errors/'
ls "out \$1.clbin"
# A header that is removed, and no longer included, is no obstacle.
echo 'kernel void b(global float* p) { *p = 4; }' > b.cl
rm 'in c/h.h' "out \$1.plan/plan.ninja"
oclcc --plan=ninja b.cl -o b.clbin --device "${devices%%$'\n'*}" -q
ninja -f b.plan/plan.ninja | tail -1 | cut -d ' ' -f 2-3
# expected output:
#| oclcc: note: out $1.plan/plan.ninja: ALL units to build; 0 in the compile cache
#| the same after 6 times kill -9
#| ./.ninja_deps
#| ./.ninja_log
#| ./log
#| ./out $1.plan/merge-ID.rsp
#| ./out $1.plan/plan.ninja
#| ./verified
#| ninja: no work to do.
#| HALF
#| ALL
#| the same after an edit
#| exit 1
#| errors
#| oclcc --repack
# expected errors:
#| ls: cannot access 'out $1.clbin': No such file or directory

### parallel
# The lines of --plan=parallel are commands for xargs, GNU parallel and the shell. They do only what
# is missing.
# shellcheck source=tests/cli/plan/sources.bash
source "$CLI_TESTS/plan/sources.bash" one_platform
words+=(-o "out \$1.clbin" --no-cache)
oclcc "${words[@]}"
mv "out \$1.clbin" whole.clbin
oclcc --plan=parallel "${words[@]}" 2>&1 | counts
plan="out \$1.plan"
wc -l < "$plan/units.sh" | counts
# Each line names the feature that its machine needs, at its end.
oclcc --identity | tr '=,' '\n' | tail -n +2 > features
grep -c -F -f features "$plan/units.sh" | counts
xargs -d '\n' -P 2 -n 1 sh -c < "$plan/units.sh"
sh "$plan/finish.sh"
cmp "out \$1.clbin" whole.clbin && echo "xargs: same"
# Again: nothing is built, because a unit that exists is complete.
rm "out \$1.clbin"
first=$(find "$plan/units" -name '*.clbin' | head -1)
rm "$first"
OCLCC="$PWD/count"
printf '#!/bin/sh\necho built >> "%s/built"\nexec oclcc "$@"\n' "$PWD" > count
chmod +x count
export OCLCC
sh -e "$plan/units.sh"
wc -l < built
unset OCLCC
sh "$plan/finish.sh"
cmp "out \$1.clbin" whole.clbin && echo "the shell: same"
# moreutils contains another program of that name.
if command -v parallel > /dev/null && parallel --version 2>&1 | grep -q GNU; then
  rm "$plan/units/"* "out \$1.clbin"
  parallel -j 2 < "$plan/units.sh" 2> /dev/null
  sh "$plan/finish.sh"
  cmp "out \$1.clbin" whole.clbin && echo "GNU parallel: same"
elif [[ ${CI:-} != true ]]; then
  echo "GNU parallel: same" # there is none
fi
# A unit that fails has a non-zero exit status and no output.
echo 'kernel void b(global float* p) { *p = undeclared; }' > b.cl
oclcc --plan=parallel b.cl --device "${devices%%$'\n'*}" -q
sh -e b.plan/units.sh 2> /dev/null; echo "exit $?"
ls b.plan/units
sh b.plan/finish.sh 2> /dev/null; echo "exit $?"
# expected output:
#| oclcc: note: out $1.plan/units.sh: ALL units to build; 0 in the compile cache
#| ALL
#| ALL
#| xargs: same
#| 1
#| the shell: same
#| GNU parallel: same
#| exit 1
#| exit 3

### slurm
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
