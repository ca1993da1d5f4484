#!/bin/bash
# Every driver compiles, and only the dependency rule is written, if requested.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
echo 'kernel void k(global int* a) { *a = x; }' > bad.cl
oclcc -fsyntax-only k.cl; echo "exit $?"
oclcc -fsyntax-only k.cl -o no/such/folder/k.clbin; echo "exit $?"
oclcc -fsyntax-only - < k.cl; echo "exit $?"
oclcc -fsyntax-only k.cl bad.cl 2> errors; echo "exit $?"
grep -o "^bad.cl:1:37: error: use of undeclared identifier 'x'" errors
oclcc -fsyntax-only -MD k.cl; echo "exit $?"
cat k.d
oclcc -fsyntax-only k.cl -v 2>&1 | grep -c 'bytes$' | sed "s/^$device_count\$/built for every device/"
ls
# expected output:
#| exit 0
#| exit 0
#| exit 0
#| exit 1
#| bad.cl:1:37: error: use of undeclared identifier 'x'
#| exit 0
#| k.clbin: k.cl
#| built for every device
#| bad.cl
#| errors
#| k.cl
#| k.d
