#!/bin/bash
# A definition is one line: a backslash at its end does not join the program's first line to it.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
for option in '-DX=a\' '-DX=a b\' $'-DX=1\r#error no line of its own'; do
  oclcc "$option" k.cl -o k.clbin
  [ "$(oclcc --info k.clbin | grep -c '^    kernel    k(')" = "$device_count" ] || echo "$option"
done
