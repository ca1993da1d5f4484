#!/bin/bash
# A write beyond `ulimit -f` is an error like that of a full disk, and leaves no file behind.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
{ echo '/*'; head -c 300000 /dev/urandom | base64; echo '*/'; } >> k.cl
oclcc k.cl -o k.clbin; echo "exit $?"
cp k.clbin before.clbin
(ulimit -f 200; oclcc k.cl -o k.clbin; echo "exit $?")
cmp k.clbin before.clbin
(ulimit -f 0; oclcc --info k.clbin > out; echo "exit $?")
ls -A
# Without cache hits, the files of drivers exceed the limit too.
rm -r "$XDG_CACHE_HOME/clbin"
(ulimit -f 4; oclcc k.cl -o k.clbin > out 2>&1; [ $? -lt 128 ] || echo "ended by a signal")
cmp k.clbin before.clbin
find "$XDG_CACHE_HOME/clbin" "$TMPDIR" -name '*.new' -o -name '*.tmp' -o -name 'oclcc-*'
# expected output:
#| exit 0
#| exit 3
#| exit 3
#| before.clbin
#| k.cl
#| k.clbin
#| out
# expected errors:
#| oclcc: error: cannot write 'k.clbin': File too large
#| oclcc: error: cannot write to standard output: File too large
