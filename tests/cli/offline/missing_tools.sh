#!/bin/bash
# Reports which tools to install, before it compiles anything.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc=$(command -v oclcc)
PATH=/nonexistent "$oclcc" k.cl --target spirv:1.2; echo "exit $?"
PATH=/nonexistent "$oclcc" k.cl --target nvptx:sm_70; echo "exit $?"
PATH=/nonexistent "$oclcc" k.cl --target nvptx:sm_50 --target spirv:1.2; echo "exit $?"
oclcc k.cl --target spirv:1.2 --tool clang=/nonexistent/clang; echo "exit $?"
oclcc k.cl --target spirv:1.2 --tool clang=no-such-clang; echo "exit $?"
oclcc k.cl --target spirv:1.2 --tool gcc=/usr/bin/gcc; echo "exit $?"
oclcc k.cl --target spirv:1.2 --tool clang; echo "exit $?"
oclcc k.cl --target spirv:9.9; echo "exit $?"
oclcc k.cl --target gpu; echo "exit $?"
oclcc k.cl --target ''; echo "exit $?"
printf '#!/bin/sh\nexit 0\n' > silent && chmod +x silent
oclcc k.cl --target spirv:1.2 --tool clang=silent --tool llvm-spirv=silent --tool spirv-val=silent; echo "exit $?"
ls
# expected output:
#| exit 5
#| exit 5
#| exit 5
#| exit 3
#| exit 3
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 1
#| k.cl
#| silent
# expected errors:
#| oclcc: error: 'spirv:1.2' needs programs that are not installed; install Debian's packages clang-15 llvm-spirv-15 spirv-tools
#| oclcc: error: 'nvptx:sm_70' needs programs that are not installed; install Debian's package clang-15
#| oclcc: error: 'nvptx:sm_50' and 1 more target need programs that are not installed; install Debian's packages clang-15 llvm-spirv-15 spirv-tools
#| oclcc: error: '--tool clang=/nonexistent/clang': there is no such file
#| oclcc: error: '--tool clang=no-such-clang': there is no such file, also not in PATH
#| oclcc: error: '--tool gcc=/usr/bin/gcc': the tools are clang, iga, lld, llvm-dis, llvm-objdump, llvm-spirv, nvdisasm, ocloc, ptxas, rocm-device-libs, spirv-dis, spirv-val
#| oclcc: error: '--tool' requires NAME=PATH, not 'clang'
#| oclcc: error: '--target spirv:9.9': the family 'spirv' has no such target; --list-targets lists them
#| oclcc: error: '--target gpu': a target is a family and an architecture, such as 'nvptx:sm_70' or 'spirv:1.2'; --list-targets lists them
#| oclcc: error: option '--target' needs a value: --target SPEC
#| oclcc: error: k.cl: 'spirv:1.2': llvm-spirv wrote no file
