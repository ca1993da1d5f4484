#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
mkdir folder.clbin
oclcc k.cl -o no/such/folder/k.clbin; echo "exit $?"
oclcc k.cl -o folder.clbin; echo "exit $?"
oclcc k.cl -o k.cl/k.clbin; echo "exit $?"
oclcc k.cl -o k.cl; echo "exit $?"
ls -A
# expected output:
#| exit 3
#| exit 3
#| exit 3
#| exit 2
#| folder.clbin
#| k.cl
# expected errors:
#| oclcc: error: cannot write 'no/such/folder/k.clbin': No such file or directory
#| oclcc: error: cannot write 'folder.clbin': Is a directory
#| oclcc: error: cannot write 'k.cl/k.clbin': Not a directory
#| oclcc: error: 'k.cl' is both an input and the output
