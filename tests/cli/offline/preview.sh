#!/bin/bash
# The commands that -### prints make the same bundle as one run.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_70
needs spirv:1.2
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
words=(k.cl --target nvptx:sm_70 --target "spirv:1.2,1.2:32")
oclcc '-###' "${words[@]}" -o k.clbin 2> commands
ls
tail -n +2 commands > run.sh
sh -e run.sh && mv k.clbin by_commands.clbin
oclcc "${words[@]}" -o k.clbin && cmp k.clbin by_commands.clbin && echo "the same bytes"
