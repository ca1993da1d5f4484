#!/bin/bash
# Many oclcc compile one program at once. Each writes the whole bundle, and each unit is built once.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
for n in 1 2 3 4; do
  oclcc -v k.cl -o "$n.clbin" 2> "log$n" &
done
wait
for n in 2 3 4; do cmp 1.clbin "$n.clbin"; done
cat log? | grep -c 'compile cache: .*hit' | grep -v "^$((3 * device_count))$"
find "$XDG_CACHE_HOME/clbin/compilations" -name '*.clbin' | wc -l | grep -v "^$device_count$"
find "$XDG_CACHE_HOME/clbin/compilations" -name '*.new' -o -name '*.lock'
true
