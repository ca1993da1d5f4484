#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
schema=$ROOT/oclcc/schema/list-devices.schema.json
oclcc --list-devices --json | python3 "$CLI_TESTS/check_schema.py" "$schema"
oclcc --list-devices --json | python3 -c '
import json, sys
for device in json.load(sys.stdin)["devices"]:
    print(device["id"], device["device_name"])
' > from_json
oclcc --list-devices | awk '{print $1}' | paste -d ' ' - <(cut -d ' ' -f 2- from_json) | cmp - from_json
# expected output:
#| fits the schema
