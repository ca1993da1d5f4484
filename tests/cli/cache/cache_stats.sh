#!/bin/bash
# Prints the statistics of both caches. A missing folder counts as an empty cache. No driver starts.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
device=${devices%%$'\n'*}
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc --cache-stats; echo "exit $?"
ls -A "$XDG_CACHE_HOME"
for _ in 1 2 3; do oclcc --device "$device" k.cl; done
OCL_ICD_VENDORS=/nowhere oclcc --cache-stats; echo "exit $?"
schema=$ROOT/oclcc/schema/cache-stats.schema.json
oclcc --cache-stats --json | python3 "$CLI_TESTS/check_schema.py" "$schema"
CLBIN_CACHE=0 oclcc --cache-stats --json | python3 "$CLI_TESTS/check_schema.py" "$schema"
CLBIN_CACHE=0 oclcc --cache-stats --json | python3 -c '
import json, sys
report = json.load(sys.stdin)
print(report["off"], report["max_bytes"])
for cache in report["caches"]:
    print(cache["cache"], cache["entries"], cache["hits"], cache["misses"], cache["stored"])
'
CLBIN_CACHE_MAX_SIZE=1G CLBIN_CACHE=0 oclcc --cache-stats | head -4
mkdir open && chmod 0777 open
CLBIN_CACHE_DIR=open oclcc --cache-stats --json; echo "exit $?"
env -u HOME -u XDG_CACHE_HOME oclcc --cache-stats | head -1
oclcc --cache-stats k.cl; echo "exit $?"
# expected output:
#| directory: */home/cache/clbin
#| at most 536870912 bytes each
#|
#| user cache: programs that libclbin built
#|   entries                        0
#|   bytes                          0
#|   hits                           0
#|   misses                         0
#|   stored                         0
#|   evicted to make room           0
#|   removed because damaged or rejected  0
#|
#| compile cache: binaries that oclcc built
#|   entries                        0
#|   finished bundles               0
#|   bytes                          0
#|   hits                           0
#|   misses                         0
#|   stored                         0
#|   evicted to make room           0
#|   removed because damaged or rejected  0
#| exit 0
#| directory: */home/cache/clbin
#| at most 536870912 bytes each
#|
#| user cache: programs that libclbin built
#|   entries                        0
#|   bytes                          0
#|   hits                           0
#|   misses                         0
#|   stored                         0
#|   evicted to make room           0
#|   removed because damaged or rejected  0
#|
#| compile cache: binaries that oclcc built
#|   entries                        1
#|   finished bundles               1
#|   bytes                          *
#|   hits                           2
#|   misses                         1
#|   stored                         1
#|   evicted to make room           0
#|   removed because damaged or rejected  0
#| exit 0
#| fits the schema
#| fits the schema
#| CLBIN_CACHE is 0 536870912
#| user cache 0 0 0 0
#| compile cache 1 2 1 1
#| directory: */home/cache/clbin
#| at most 1073741824 bytes each
#| off: CLBIN_CACHE is 0
#|
#| exit 3
#| directory: none
#| exit 2
# expected errors:
#| oclcc: error: the cache directory '*/work/open' is not used: other users may write to it (mode 0777)
#| oclcc: warning: the cache is not used: HOME is not set
#| oclcc: error: '--cache-stats' accepts no input file, but 'k.cl' is given
