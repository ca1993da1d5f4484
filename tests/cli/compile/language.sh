#!/bin/bash
# -x cl is accepted and has no effect. Other languages are rejected.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc -x cl - -o stdin.clbin < k.cl; echo "exit $?"
oclcc --info stdin.clbin | grep '^program' | uniq
cp k.cl k.txt
oclcc -xcl k.txt; echo "exit $?"
oclcc -x none k.cl; echo "exit $?"
for language in c c++ clc++ ''; do oclcc -x "$language" k.cl; echo "exit $?"; done
ls
# expected output:
#| exit 0
#| program 'stdin', variant 'default'
#| exit 0
#| exit 0
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| k.cl
#| k.clbin
#| k.txt
#| stdin.clbin
# expected errors:
#| oclcc: error: oclcc compiles OpenCL C: '-x' accepts cl or none, not 'c'
#| oclcc: error: oclcc compiles OpenCL C: '-x' accepts cl or none, not 'c++'
#| oclcc: error: oclcc compiles OpenCL C: '-x' accepts cl or none, not 'clc++'
#| oclcc: error: option '-x' needs a value: -x cl
