#!/bin/bash
# -MD and -MMD write the rule beside the output, by rename, and only if the output is written.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
first=$(echo "$devices" | head -1)
run() { oclcc --device "$first" "$@" 2> errors; echo "exit $?"; }
echo '#include "b.h"
kernel void k(global int* a) { *a = B; }' > k.cl
echo '#define B 1' > b.h
mkdir out in
run -MD k.cl
cat k.d
run -MMD k.cl -o out/name.one.clbin -MP
cat out/name.one.d
run -MD k.cl -o out/n -MF rule -MT t
cat rule
oclcc --device "$first" -MD k.cl -o - -MF stdout_rule > in/stdout.clbin
cat stdout_rule
oclcc --info in/stdout.clbin | grep -c '^program'
cp k.cl l.cl
run -MD k.cl l.cl -o both.clbin
cat both.d
run -MD k.cl -o k.clbin -MF -
ln -s ../rule out/link.d
echo old > rule
run -MD k.cl -o out/link.clbin
[ -L out/link.d ] && cat rule

# A build that fails writes no rule, and does not change an older one.
echo '#error no' > b.h
rm -f out/* k.d
run -MD k.cl -o out/bad.clbin
echo older > k.d
run -MD k.cl
cat k.d
# The same if the output cannot be written, or only in part.
echo '#define B 1' > b.h
run -MD k.cl -o /dev/full -MF out/full.d
cat errors
run -MD k.cl -o no/k.clbin -MF out/no.d
cat errors
run -MD k.cl -MF no/k.d -o out/k.clbin
cat errors
ls -A out
# expected output:
#| exit 0
#| k.clbin: k.cl b.h
#| exit 0
#| out/name.one.clbin: k.cl b.h
#| b.h:
#| exit 0
#| t: k.cl b.h
#| k.clbin: k.cl b.h
#| 1
#| exit 0
#| both.clbin: k.cl b.h l.cl
#| k.clbin: k.cl b.h
#| exit 0
#| exit 0
#| out/link.clbin: k.cl b.h
#| exit 1
#| exit 1
#| older
#| exit 3
#| oclcc: error: cannot write '/dev/full': No space left on device
#| exit 3
#| oclcc: error: cannot write 'no/k.clbin': No such file or directory
#| exit 3
#| oclcc: error: cannot write 'no/k.d': No such file or directory
