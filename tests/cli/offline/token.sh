#!/bin/bash
# Compilers and commands do not get the token of the remote cache.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs spirv:1.2
echo 'kernel void k(global float* a) { *a = 5; }' > k.cl
printf '#!/bin/sh\nenv >> "%s/compiler"\nexec "%s" "$@"\n' "$PWD" "$clang" > clang
chmod +x clang
export CLBIN_REMOTE_TOKEN=sesame OTHER=present
oclcc k.cl --target spirv:1.2 --tool clang=clang -o k.clbin
oclcc --keygen k --no-passphrase
oclcc --sign --sign-with 'env > command; false' --public-key k.pub k.clbin 2> /dev/null
grep -c '^OTHER=present' command
grep -q '^OTHER=present' compiler && grep -h sesame compiler command
true
# expected output:
#| 1
