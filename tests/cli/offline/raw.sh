#!/bin/bash
# The suffix of -o must match the format of the target. Otherwise the error names both.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_70
needs spirv:1.2
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl --target nvptx:sm_70 -o k.ptx && grep -x '.target sm_70, texmode_independent' k.ptx
oclcc k.cl --target spirv:1.2 -o k.spv && file -b k.spv
oclcc k.cl --target nvptx:sm_70 -o k.cubin; echo "exit $?"
oclcc k.cl --target spirv:1.2 -o wrong.ptx; echo "exit $?"
oclcc k.cl --target nvptx:sm_50,sm_70 -o two.ptx; echo "exit $?"
ls
