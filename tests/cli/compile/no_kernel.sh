#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'int f(int a) { return a; }' > k.cl
oclcc k.cl; echo "exit $?"
ls
# expected output:
#| exit 0
#| k.cl
#| k.clbin
# expected errors:
#| oclcc: warning: k.cl: it contains no kernel
