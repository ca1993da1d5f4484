#!/bin/bash
# The features of this machine: those that Slurm accepts, and a pattern of --device for each device.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
oclcc --identity > line
grep -c -x -E 'Feature=oclcc_[a-z0-9_]+_[0-9a-f]{16}(,oclcc_[a-z0-9_]+_[0-9a-f]{16})*' line
oclcc --identity --json > json
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/identity.schema.json" < json
python3 -c '
import json
machine = json.load(open("json"))
print("Feature=" + ",".join(machine["features"]))
assert {item["feature"] for item in machine["devices"] + machine["tools"]} == set(machine["features"])
for device in machine["devices"]:
    print(device["feature"], device["device_name"], file=open("devices", "a"))
' | cmp - line
# Each feature selects its device, or several that are the same, and no other.
while read -r feature name; do
  oclcc --list-devices --device "$feature" --json |
    python3 -c 'import json, sys; print(*{device["device_name"] for device in json.load(sys.stdin)["devices"]})' |
    cmp - <(echo "$name")
done < devices
oclcc --list-devices --device oclcc_pocl_0000000000000000 2>&1 | cut -d ';' -f 1
# Without a driver, the features of offline targets; without both, an error.
export OCL_ICD_VENDORS=/nonexistent OPENCL_VENDOR_PATH=/nonexistent
python3 -c 'import json; print(*[tools["feature"] for tools in json.load(open("json"))["tools"]], sep="\n")' | sort > tools
if grep -q . tools; then
  oclcc --identity > line
  diff <(tr '=,' '\n' < line | tail -n +2) tools
else
  # There is no tool either: the error of the next line.
  oclcc --identity > line 2>&1 && cat line
  echo 'oclcc: note: only for offline targets: no OpenCL device found' >&2
fi
PATH=/nonexistent $(command -v oclcc) --identity; echo "exit $?"
oclcc --identity --tool clang=nowhere; echo "exit $?"
oclcc --identity k.cl; echo "exit $?"
# expected output:
#| 1
#| fits the schema
#| oclcc: error: no device matches 'oclcc_pocl_0000000000000000'
#| exit 5
#| exit 3
#| exit 2
# expected errors:
#| oclcc: note: only for offline targets: no OpenCL device found*
#| oclcc: error: no OpenCL device found*
#| oclcc: error: '--tool clang=nowhere': there is no such file, also not in PATH
#| oclcc: error: '--identity' accepts no input file, but 'k.cl' is given
