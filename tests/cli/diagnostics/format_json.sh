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
# expected output:
#| every device: error k.cl 2 47 use of undeclared identifier 'nope' 'kernel void k(global int* a) { /* 漢 */ *a = M(1); }'
#| every device: exit 1
#| every device: fits the schema
#| every device: log: no
#| every device: note k.cl 1 21 expanded from macro 'M' '#define M(x) ((x) + nope)'
#| exit 3
#| fits the schema
#| error None None None cannot open 'none.cl': No such file or directory None
#| log: no
#| exit 0
#| fits the schema
#| log: yes
#| exit 2
# expected errors:
#| oclcc: error: '--diagnostics-format' accepts text, json or sarif, not 'xml'
