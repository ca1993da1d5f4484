#!/bin/bash
# Prints one document on standard error, which contains oclcc's own messages and the logs of -v.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
check() { python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/diagnostics.schema.json"; }
show() {
  python3 -c '
import json, sys
document = json.load(sys.stdin)
for head in document["diagnostics"]:
    for message in [head] + head["notes"]:
        print(message["severity"], message.get("file"), message.get("line"), message.get("column"),
              message["message"], repr(message.get("source_line")))
print("log:", "yes" if document["log"] else "no")'
}
printf '#define M(x) ((x) + nope)\nkernel void k(global int* a) { /* \xe6\xbc\xa2 */ *a = M(1); }\n' > k.cl
for device in $devices; do
  oclcc --diagnostics-format=json --device "$device" k.cl 2> out; echo "exit $?"
  check < out
  show < out
done | sort | uniq -c | sed "s/^ *$device_count /every device: /"
oclcc --diagnostics-format json none.cl 2> out; echo "exit $?"
check < out
show < out
echo 'kernel __attribute__((reqd_work_group_size(1, 1, 1))) void k(global int* a) { *a = 1; }' > good.cl
oclcc --diagnostics-format=json -v good.cl 2> out; echo "exit $?"
check < out
show < out
oclcc --diagnostics-format=xml good.cl; echo "exit $?"
