#!/bin/bash
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
