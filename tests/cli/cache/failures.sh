#!/bin/bash
# Failed compiles are not cached. --keep-going caches the successful ones. -Werror applies to hits.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void good(global int* a) { *a = 1; }' > good.cl
echo 'kernel void bad(global int* a) { *a = x; }' > bad.cl
for n in 1 2; do
  oclcc --keep-going -v good.cl bad.cl -o both.clbin 2> "log$n"; echo "exit $?"
  grep 'compile cache: ' "log$n" | sed 's/.* · \(.*\): compile cache: /\1: /' | sort -u
  grep -c "bad.cl:1:39: error: use of undeclared identifier 'x'" "log$n"
done
echo '#warning careful
kernel void k(global int* a) { *a = 1; }' > k.cl
for n in 1 2; do
  oclcc -Werror k.cl 2> "werror$n"; echo "exit $?"
done
cmp werror1 werror2
grep -c '^k.cl:1:2: error: careful' werror2
# expected output:
#| exit 1
#| bad.cl: miss: never built, or no longer stored
#| good.cl: miss: never built, or no longer stored
#| 1
#| exit 1
#| bad.cl: miss: never built, or no longer stored
#| good.cl: hit
#| 1
#| exit 1
#| exit 1
#| 1
