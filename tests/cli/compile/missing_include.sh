#!/bin/bash
# The error points at the #include line, in the file that contains it. An #include in a branch that
# is not taken is no error.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
mkdir sub
printf '\n#include "sub/h.h"\nkernel void k(global int* a) { *a = 1; }\n' > k.cl
printf '#if 0\n#include "skipped.h"\n#endif\n  #include "absent.h"\n' > sub/h.h
oclcc k.cl 2> errors; echo "exit $?"
grep -c '^sub/h.h:4:12: error: .absent.h. file not found' errors
grep -i skipped errors
sed -i '$d' sub/h.h
oclcc k.cl; echo "exit $?"
# expected output:
#| exit 1
#| 1
#| exit 0
