#!/bin/bash
# In SARIF, columns are code points, names are URIs, and notes are related locations.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
mkdir 'sp é'
printf "#define M(x) ((x) + nope)\nkernel void k(global int* a) { /* \xe6\xbc\xa2 */ *a = M(1); }\n" > "sp é/k%.cl"
for device in $devices; do
  oclcc --diagnostics-format=sarif --device "$device" 'sp é/k%.cl' 2> out; echo "exit $?"
  grep -o '"uri": .*' out
  python3 "$CLI_TESTS/diagnostics/check_sarif.py" < out
done | sort | uniq -c | sed -E "s/^ *($device_count|$((2 * device_count))) /every device: /"
echo 'kernel __attribute__((reqd_work_group_size(1, 1, 1))) void k(global int* a) { *a = 1; }' > good.cl
oclcc --diagnostics-format=sarif -v good.cl 2>&1 | python3 "$CLI_TESTS/diagnostics/check_sarif.py"
oclcc --diagnostics-format=sarif none.cl 2>&1 | python3 "$CLI_TESTS/diagnostics/check_sarif.py"
# expected output:
#| every device:   related sp é/k%.cl:1:21 expanded from macro 'M'
#| every device: "uri": "sp%20%C3%A9/k%25.cl"
#| every device: error error sp é/k%.cl:2:45 use of undeclared identifier 'nope'
#| every device: exit 1
#| every device: failed False
#| successful True
#| failed False
#| error error cannot open 'none.cl': No such file or directory
