#!/bin/bash
# OpenCL has no -U. The last of -D and -U counts, also for macros that the compiler predefines.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = X; }' > k.cl
oclcc -DX=1 -UX k.cl 2> errors; echo "exit $?"
grep -o "k.cl:1:37: error: use of undeclared identifier 'X'" errors
oclcc -UX -D X=1 k.cl; echo "exit $?"
oclcc -DX=1 k.cl --variant without=-UX 2> errors; echo "exit $?"
grep -o "k.cl:1:37: error: use of undeclared identifier 'X'" errors
echo '#ifdef __OPENCL_VERSION__
#error it is there
#endif
kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc -U__OPENCL_VERSION__ k.cl; echo "exit $?"
# expected output:
#| exit 1
#| k.cl:1:37: error: use of undeclared identifier 'X'
#| exit 0
#| exit 1
#| k.cl:1:37: error: use of undeclared identifier 'X'
#| exit 0
