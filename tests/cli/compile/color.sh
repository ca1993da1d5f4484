#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = x; }' > k.cl
oclcc --color k.cl 2>&1 | grep error: | cat -v
oclcc --color=never k.cl 2>&1 | grep error:
NO_COLOR=1 oclcc --color=always k.cl 2>&1 | grep error: | cat -v
oclcc k.cl 2>&1 | grep error:
if command -v script > /dev/null; then
  script -qec 'oclcc k.cl' /dev/null < /dev/null | grep -a error: | tr -d '\r' | cat -v | sed 's/.*\(\^\[\[1mk.cl\)/\1/'
  NO_COLOR=1 script -qec 'oclcc k.cl' /dev/null < /dev/null | grep -a error: | tr -d '\r' | sed 's/.*\(k.cl:\)/\1/'
fi
# expected output:
#| ^[[1mk.cl:1:37:^[[0m ^[[1;31merror:^[[0m use of undeclared identifier 'x'
#| k.cl:1:37: error: use of undeclared identifier 'x'
#| ^[[1mk.cl:1:37:^[[0m ^[[1;31merror:^[[0m use of undeclared identifier 'x'
#| k.cl:1:37: error: use of undeclared identifier 'x'
#| ^[[1mk.cl:1:37:^[[0m ^[[1;31merror:^[[0m use of undeclared identifier 'x'
#| k.cl:1:37: error: use of undeclared identifier 'x'
