#!/bin/bash
# oclcc passes OpenCL's options on and records them. The driver decides about unknown -cl- options.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc -cl-fast-relaxed-math -cl-std=CL1.2 k.cl; echo "exit $?"
oclcc --info k.clbin | grep '^  options'
oclcc -cl-no-such-option k.cl 2> errors; echo "exit $?"
[ -s errors ] || echo "no message"
grep -v -E '^k.cl: |^oclcc: (error|note): ' errors
true
# expected output:
#| exit 0
#|   options   -cl-fast-relaxed-math -cl-std=CL1.2
#| exit 1
