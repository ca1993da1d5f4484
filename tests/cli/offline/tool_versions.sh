#!/bin/bash
# A version other than the tested ones must be chosen with --tool. --list-targets knows it, too.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_80
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
mkdir bin
printf '#!/bin/sh\necho "Cuda compilation tools, release 11.8, V11.8.89"\n' > bin/ptxas && chmod +x bin/ptxas
export PATH=$PWD/bin:$PATH
oclcc --list-targets | grep -E '^cubin:sm_(80|100) '
oclcc --list-targets --json | python3 -c '
import json, sys
for target in json.load(sys.stdin)["targets"]:
    if target["target"] == "cubin:sm_80":
        print(target["usable"], target["problem"], target["missing_packages"])'
oclcc k.cl --target cubin:sm_80; echo "exit $?"
# A chosen one is used, whatever its version.
oclcc --list-targets --tool ptxas=ptxas | grep -x cubin:sm_80
# That of Debian 13 is tested for what it knows.
printf '#!/bin/sh\necho "Cuda compilation tools, release 12.4, V12.4.131"\n' > bin/ptxas
oclcc --list-targets | grep -E '^cubin:sm_(90|100)'
# expected output:
#| cubin:sm_80                    ptxas is of version 11.8, and 13.0, 12.4 are tested; '--tool ptxas=*' uses it
#| cubin:sm_100                   ptxas is of version 11.8, and 13.0 is tested; '--tool ptxas=*' uses it
#| False ptxas is of version 11.8, and 13.0, 12.4 are tested; '--tool ptxas=*' uses it []
#| exit 1
#| cubin:sm_80
#| cubin:sm_90
#| cubin:sm_100                   ptxas is of version 12.4, and 13.0 is tested; '--tool ptxas=*' uses it
# expected errors:
#| oclcc: error: k.cl: 'cubin:sm_80': ptxas is of version 11.8, and 13.0, 12.4 are tested; '--tool ptxas=*' uses it
