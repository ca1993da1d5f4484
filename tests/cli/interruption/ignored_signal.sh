#!/bin/bash
# A signal that is ignored when oclcc starts stays ignored, for nohup(1).
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
export CLBIN_CACHE=0 # the signal must arrive during a build
echo 'kernel void k(global int* a) { a[get_global_id(0)] = 3; }' > k.cl
trap '' HUP
oclcc k.cl -o out.clbin &
for _ in 1 2 3 4 5; do
  sleep 0.05
  kill -HUP $! 2> /dev/null
done
wait $! && [ "$(entries out.clbin)" -ge 1 ] && echo "done"
# expected output:
#| done
