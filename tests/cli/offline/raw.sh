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
# expected output:
#| .target sm_70, texmode_independent
#| Khronos SPIR-V binary, little-endian, version 0x010000, generator 0x06000e
#| exit 2
#| exit 2
#| exit 2
#| k.cl
#| k.ptx
#| k.spv
# expected errors:
#| oclcc: error: cannot write 'k.cubin': 'nvptx:sm_70' produces PTX 6.0 for sm_70
#| oclcc: error: cannot write 'wrong.ptx': 'spirv:1.2' produces SPIR-V 1.0
#| oclcc: error: 'two.ptx' can contain only one device binary, but 2 different ones were built; select one with --device or --target
