#!/bin/bash
# Errors that only the linker finds have no line, but the message names the file.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
printf 'void absent(int);\nkernel void k(global int* a) { absent(1); }\n' > k.cl
for device in $devices; do
  oclcc --device "$device" k.cl 2> log && continue
  grep -q -E '^(k.cl: error: |oclcc: error: k.cl: )' log || { echo "$device:"; cat log; }
done
true
