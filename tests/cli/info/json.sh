#!/bin/bash
make_bundle sample s.clbin
oclcc --info --json s.clbin | python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json"
oclcc --info --json s.clbin | python3 -c '
import json, sys
bundle = json.load(sys.stdin)["bundles"][0]
for group in bundle["groups"]:
    print(group["program"], group["variant"], group["source_kept"])
    for entry in group["entries"]:
        print(" ", entry["format"]["kind"], entry["format"]["target"], entry["format"]["version"],
              entry["target"]["device"] or entry["target"]["spec"],
              [kernel["name"] for kernel in entry["kernels"]])
'
# expected output:
#| fits the schema
#| matmul default True
#|   ptx sm_50 7.5 nvptx:sm_50 ['add', 'multiply']
#|   ptx sm_70 7.5 nvptx:sm_70 ['add', 'multiply']
#|   poclbin None None cpu-a ['add', 'multiply']
#| matmul fast True
#|   unknown None None cpu-a ['add', 'multiply']
#|   ptx sm_70 7.5 nvptx:sm_70 ['add', 'multiply']
#| reduce default False
#|   ptx sm_80 7.5 nvptx:sm_80 ['add', 'multiply']
#|   poclbin None None cpu-b ['add', 'multiply']
