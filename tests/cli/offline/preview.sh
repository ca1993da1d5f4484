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
# Each unit of an encrypted bundle is encrypted, and only the last command encrypts for recipients.
cp k.cl l.cl
oclcc --keygen c --key-type content
oclcc --keygen r --key-type recipient
oclcc '-###' k.cl l.cl --target spirv:1.2 --encrypt-key c.key --encrypt-for r.pub -o x.clbin 2>&1 | tail -n +2
oclcc '-###' k.cl --target spirv:1.2 --encrypt-for r.pub -o x.clbin 2>&1 | tail -n +2
# expected output:
#| commands
#| k.cl
#| the same bytes
#|  oclcc --target spirv:1.2 --encrypt-key c.key --no-cache --program k=k.cl -o x.k.default.spirv-1.2.clbin
#|  oclcc --target spirv:1.2 --encrypt-key c.key --no-cache --program l=l.cl -o x.l.default.spirv-1.2.clbin
#|  oclcc --merge x.k.default.spirv-1.2.clbin x.l.default.spirv-1.2.clbin --decrypt-key c.key -o x.merged.clbin
#|  oclcc --repack x.merged.clbin --decrypt-key c.key --encrypt-key c.key --encrypt-for r.pub -o x.clbin
#|  oclcc --target spirv:1.2 --no-cache --program k=k.cl -o x.clbin --encrypt-for r.pub
