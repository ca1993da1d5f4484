#!/bin/bash
# Variables that clang reads change the output, so they are in the key: those of one run do not
# affect another.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs spirv:1.2
printf '#ifndef X\n#define X 5.0f\n#endif\nkernel void k(global float* a) { *a = X; }\n' > k.cl
notes() { grep -o 'compile cache: .*'; }
CCC_OVERRIDE_OPTIONS='+-DX=7.0f' oclcc k.cl --target spirv:1.2 -o seven.clbin
oclcc -v k.cl --target spirv:1.2 -o five.clbin 2>&1 | notes
oclcc k.cl --target spirv:1.2 --no-cache -o reference.clbin
cmp five.clbin reference.clbin
cmp -s five.clbin seven.clbin && echo "the variable has no effect"
CCC_OVERRIDE_OPTIONS='+-DX=7.0f' oclcc -v k.cl --target spirv:1.2 -o again.clbin 2>&1 | notes
cmp again.clbin seven.clbin
