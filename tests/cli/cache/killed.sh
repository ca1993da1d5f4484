#!/bin/bash
# Killing oclcc at any moment leaves no partial entry, and later runs do not block.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc --no-cache k.cl -o built.clbin
for tenths in 1 2 3 4 5 6 7; do
  # In a separate shell, which reports the killed process.
  (timeout -s KILL "0.$tenths" oclcc k.cl -o killed.clbin; true) > /dev/null 2>&1
  for entry in "$XDG_CACHE_HOME"/clbin/compilations/*.clbin; do
    [ ! -e "$entry" ] || oclcc --info "$entry" > /dev/null || echo "$entry after 0.$tenths s"
  done
done
oclcc k.cl -o after.clbin; echo "exit $?"
cmp built.clbin after.clbin
oclcc -v k.cl 2>&1 | grep -c 'compile cache: hit' | grep -v "^$device_count$"
true
# expected output:
#| exit 0
