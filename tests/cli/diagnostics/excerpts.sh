#!/bin/bash
# The source line and the caret, below tabs and wide characters too.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
printf 'kernel void k(global int* a) {\n\ta[0] = 1; /* \xe6\xbc\xa2 */ a[1] = x;\n}\n' > k.cl
for device in $devices; do
  oclcc --device "$device" k.cl 2> log; echo "exit $?"
  cmp log first 2> /dev/null || [ -e first ] || cp log first
  diff log first
done | sort | uniq -c | sed "s/^ *$device_count exit 1\$/every device exits 1/"
cat first
# expected output:
#| every device exits 1
#| k.cl:2:29: error: use of undeclared identifier 'x'
#|     2 | 	a[0] = 1; /* 漢 */ a[1] = x;
#|       | 	                          ^
