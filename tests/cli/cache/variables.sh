#!/bin/bash
# CLBIN_CACHE_DIR takes precedence over XDG_CACHE_HOME, and that over HOME. Also tests CLBIN_CACHE=0
# and CLBIN_CACHE_MAX_SIZE.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
device=${devices%%$'\n'*}
why() { oclcc --device "$device" -v k.cl 2>&1 | sed -n 's/.*compile cache: //p'; }
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
CLBIN_CACHE=0 why
ls -A "$XDG_CACHE_HOME"
why
ls "$XDG_CACHE_HOME/clbin"
CLBIN_CACHE_DIR=here why
CLBIN_CACHE_DIR=here why
stat -c '%A %n' here here/*
XDG_CACHE_HOME='' why
ls -A "$HOME/.cache"
CLBIN_CACHE_DIR=none CLBIN_CACHE_MAX_SIZE=0 why
CLBIN_CACHE_DIR=none CLBIN_CACHE_MAX_SIZE=0 why
ls none/compilations
CLBIN_CACHE_MAX_SIZE=much oclcc --device "$device" k.cl
# expected output:
#| off: CLBIN_CACHE is 0
#| miss: never built, or no longer stored
#| CACHEDIR.TAG
#| compilations
#| miss: never built, or no longer stored
#| hit
#| drwx------ here
#| -rw------- here/CACHEDIR.TAG
#| drwx------ here/compilations
#| miss: never built, or no longer stored
#| clbin
#| miss: never built, or no longer stored
#| miss: never built, or no longer stored
#| counters
# expected errors:
#| oclcc: warning: CLBIN_CACHE_MAX_SIZE 'much' is not a size such as 512M
