#!/bin/bash
# A file name cannot control the terminal or add lines to the output.
name=$'e\033[31mx\ny.cl'
echo 'kernel void k(global int* a) { a[0] = 1; }' > "$name"
for _ in 1 2; do
  oclcc "$name" -v -o k.clbin 2> log || echo "exit $?"
  grep -c $'\033' log
  grep -c '^y\.cl' log
done
true # grep found nothing
# expected output:
#| 0
#| 0
#| 0
#| 0
