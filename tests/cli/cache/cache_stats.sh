#!/bin/bash
# Prints the statistics of both caches. A missing folder counts as an empty cache. No driver starts.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
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
