#!/bin/bash
# -x cl is accepted and has no effect. Other languages are rejected.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc -x cl - -o stdin.clbin < k.cl; echo "exit $?"
oclcc --info stdin.clbin | grep '^program' | uniq
cp k.cl k.txt
oclcc -xcl k.txt; echo "exit $?"
oclcc -x none k.cl; echo "exit $?"
for language in c c++ clc++ ''; do oclcc -x "$language" k.cl; echo "exit $?"; done
ls
