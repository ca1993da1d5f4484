#!/bin/bash
# --target, or a variable, makes it compile for an offline target, with the bytes of oclcc.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
# shellcheck source=tests/cli/offline_compiler.bash
source "$CLI_TESTS/offline_compiler.bash"
needs nvptx:sm_70
needs spirv:1.2
echo 'kernel void k(global int* a) { a[0] = NUMBER; }' > k.cl
device_info "No such device" info
run() {
  "$offline_compiler" --source k.cl --output "k.$1" --cl-device-info info "${@:2}"
  echo "exit $?"
}
run ptx --mode binary --target nvptx:sm_70 -- -DNUMBER=3
oclcc k.cl -DNUMBER=3 --target nvptx:sm_70 -o expected.ptx && cmp k.ptx expected.ptx && echo "the same PTX"
CL_OFFLINE_COMPILER_TARGET=nvptx:sm_70 run other --mode binary -- -DNUMBER=3
cmp k.other expected.ptx && echo "the same PTX"
run spv --mode spir-v --target=spirv:1.2 -- -DNUMBER=3
oclcc k.cl -DNUMBER=3 --target spirv:1.2 -o expected.spv && cmp k.spv expected.spv && echo "the same module"
run none --mode spir-v --target nvptx:sm_70
run none --mode binary --target spirv:1.2
run none --mode binary --target nvptx:sm_1
run none --mode binary --target nvptx:sm_70 2> messages
head -n 1 messages
CL_OFFLINE_COMPILER_TARGET=nvptx:sm_1 run ptx --mode binary --target nvptx:sm_80 -- -DNUMBER=3
grep -c '^.target sm_80' k.ptx
ls -- k.*
# expected output:
#| exit 0
#| the same PTX
#| exit 0
#| the same PTX
#| exit 0
#| the same module
#| exit 2
#| exit 2
#| exit 2
#| exit 1
#| k.cl:1:39: error: use of undeclared identifier 'NUMBER'
#| exit 0
#| 1
#| k.cl
#| k.other
#| k.ptx
#| k.spv
# expected errors:
#| cl_offline_compiler: error: --mode spir-v takes a target such as spirv:1.2, not 'nvptx:sm_70'
#| cl_offline_compiler: error: the target 'spirv:1.2' is for --mode spir-v
#| oclcc: error: '--target nvptx:sm_1': the family 'nvptx' has no such target; --list-targets lists them
