#!/bin/bash
# Reports which tools to install, before it compiles anything.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc=$(command -v oclcc)
PATH=/nonexistent "$oclcc" k.cl --target spirv:1.2; echo "exit $?"
PATH=/nonexistent "$oclcc" k.cl --target nvptx:sm_70 --tool libclc=k.cl; echo "exit $?"
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
