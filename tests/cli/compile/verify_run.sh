#!/bin/bash
# --verify --run loads each entry on its device. It names entries that a driver rejects, and entries
# that fit no device here.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo "kernel void k(global int* a) { *a = 1; }" > k.cl
oclcc k.cl -o k.clbin
oclcc --verify --run k.clbin; echo "exit $?"
[ "$(oclcc -v --verify --run k.clbin 2>&1 | grep -c ": loads$")" = "$device_count" ] && echo "all load"
oclcc --verify --run --json k.clbin > v.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/verify.schema.json" < v.json
[ "$(grep -c "\"loads\": true" v.json)" = "$device_count" ] && echo "all told"
make_bundle sample s.clbin
oclcc --strip --drop-target "nvptx:*" s.clbin
oclcc --verify --run s.clbin; echo "exit $?"
oclcc --verify --run --device no-such-device k.clbin 2> /dev/null; echo "exit $?"
# expected output:
#| exit 0
#| all load
#| exit 0
#| fits the schema
#| all told
#| exit 0
#| exit 5
# expected errors:
#| oclcc: note: s.clbin: 3 of 3 entries match no device of this machine: not run
