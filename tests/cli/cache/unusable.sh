#!/bin/bash
# An unusable cache costs one warning, and nothing else.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
echo 'kernel void l(global int* a) { *a = 2; }' > l.cl
try() { rm -f b.clbin; "$@" oclcc k.cl l.cl -o b.clbin; echo "exit $?"; ls b.clbin; }
mkdir open
chmod 0777 open
try env CLBIN_CACHE_DIR="$PWD/open"
ls -A open
touch file
try env CLBIN_CACHE_DIR="$PWD/file"
try env CLBIN_CACHE_DIR=/proc/none/clbin
try env -u HOME -u XDG_CACHE_HOME
CLBIN_CACHE_DIR="$PWD/open" oclcc -q k.cl -o b.clbin; echo "exit $?"
# expected output:
#| exit 0
#| b.clbin
#| exit 0
#| b.clbin
#| exit 0
#| b.clbin
#| exit 0
#| b.clbin
#| exit 0
# expected errors:
#| oclcc: warning: the cache directory '*/open' is not used: other users may write to it (mode 0777)
#| oclcc: warning: cannot open the cache directory '*/file': Not a directory
#| oclcc: warning: cannot create the cache directory '/proc/none/clbin': No such file or directory
#| oclcc: warning: the cache is not used: HOME is not set
