#!/bin/bash
# Variables that clang reads are in the key: those of one run do not affect another. Nor does what
# clang prints about them before its version.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs spirv:1.2
printf '#ifndef X\n#define X 5.0f\n#endif\nkernel void k(global float* a) { *a = X; }\n' > k.cl
notes() { grep -o 'compile cache: .*'; }
CCC_OVERRIDE_OPTIONS='+-DX=7.0f' oclcc k.cl --target spirv:1.2 -o with.clbin
oclcc -v k.cl --target spirv:1.2 -o without.clbin 2>&1 | notes
oclcc k.cl --target spirv:1.2 --no-cache -o reference.clbin
cmp without.clbin reference.clbin
CCC_OVERRIDE_OPTIONS='+-DX=7.0f' oclcc -v k.cl --target spirv:1.2 -o again.clbin 2>&1 | notes
cmp again.clbin with.clbin
versions() { oclcc --info --json "$1" | grep -A6 '"tools"'; }
versions with.clbin | grep -q '[0-9]\.[0-9]' || echo 'no version'
diff <(versions with.clbin) <(versions without.clbin) && echo "the same versions of compilers"
# expected output:
#| compile cache: miss: environment variable CCC_OVERRIDE_OPTIONS is gone
#| compile cache: hit
#| the same versions of compilers
