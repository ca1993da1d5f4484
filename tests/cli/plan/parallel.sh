#!/bin/bash
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
