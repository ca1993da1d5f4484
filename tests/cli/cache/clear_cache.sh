#!/bin/bash
# Removes only files that the caches created, also if CLBIN_CACHE is 0.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
device=${devices%%$'\n'*}
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
why() { oclcc --device "$device" -v k.cl 2>&1 | sed -n 's/.*compile cache: //p'; }
oclcc --clear-cache; echo "exit $?"
ls -A "$XDG_CACHE_HOME"
export CLBIN_CACHE_DIR=$PWD/home
mkdir -p home/programs home/compilations
chmod -R go-w home
echo 'mine' | tee home/notes home/programs/kernels.clbin home/compilations/yarn.lock > /dev/null
why
why
CLBIN_CACHE=0 oclcc --clear-cache; echo "exit $?"
(cd home && find . -type f | sort)
why
oclcc --cache-stats | sed -n '/compile cache/,$p' | grep -v bytes
chmod 0777 home
oclcc --clear-cache; echo "exit $?"
# expected output:
#| exit 0
#| miss: never built, or no longer stored
#| hit
#| exit 0
#| ./compilations/yarn.lock
#| ./notes
#| ./programs/kernels.clbin
#| miss: never built, or no longer stored
#| compile cache: binaries that oclcc built
#|   entries                        1
#|   finished bundles               1
#|   hits                           0
#|   misses                         1
#|   stored                         1
#|   evicted to make room           0
#|   removed because damaged or rejected  0
#| exit 3
# expected errors:
#| oclcc: error: the cache directory '*/work/home' is not used: other users may write to it (mode 0777)
