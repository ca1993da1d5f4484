#!/bin/bash
# --no-cache neither reads nor writes the cache.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
device=${devices%%$'\n'*}
why() { oclcc --device "$device" -v k.cl "$@" 2>&1 | sed -n 's/.*compile cache: //p'; }
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
why --no-cache
ls -A "$XDG_CACHE_HOME"
why
why --no-cache
why
# expected output:
#| off: --no-cache was given
#| miss: never built, or no longer stored
#| off: --no-cache was given
#| hit
