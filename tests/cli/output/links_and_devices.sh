#!/bin/bash
# A symbolic link is followed and kept. A pipe and /dev/null are written in place. A replaced file
# keeps its permissions.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
mkdir real
echo old > real/k.clbin
chmod 640 real/k.clbin
ln -s real/k.clbin link.clbin
oclcc k.cl -o link.clbin; echo "exit $?"
[ -L link.clbin ] && stat -c %a real/k.clbin && oclcc --info real/k.clbin | grep -c '^program'
mkfifo pipe
cat pipe > copy & oclcc k.cl -o pipe; echo "exit $?"
wait
cmp copy real/k.clbin
[ -p pipe ] && oclcc k.cl -o /dev/null; echo "exit $?"
[ -c /dev/null ] && ls -A real
# expected output:
#| exit 0
#| 640
#| 1
#| exit 0
#| exit 0
#| k.clbin
