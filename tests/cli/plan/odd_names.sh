#!/bin/bash
# Names with control characters reach the compiler through every engine, run nothing, and are not
# shown as they are.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
device=${devices%%$'\n'*}
name=$'e\033\';touch owned;\'.cl'
echo 'kernel void k(global int* a) { *a = 1; }' > "$name"
oclcc --device "$device" "$name" -o k.clbin --no-cache
mv k.clbin direct.clbin
oclcc --plan=parallel --device "$device" "$name" -o k.clbin -q --no-cache
wc -l < k.plan/units.sh
cat k.plan/units.sh k.plan/finish.sh > run.sh
dash -e run.sh; echo "exit $?"
cmp k.clbin direct.clbin
rm -r k.clbin k.plan
oclcc --plan=ninja --device "$device" "$name" -o k.clbin -q --no-cache
grep '^  what = ' k.plan/plan.ninja | grep -c $'\033'
if command -v ninja > /dev/null; then
  ninja -f k.plan/plan.ninja > log || cat log
  grep -c $'\033' log
  cmp k.clbin direct.clbin
else
  echo 0
fi
[ ! -e owned ] || echo "a name ran a command"
# expected output:
#| 1
#| exit 0
#| 0
#| 0
