#!/bin/bash
# A file's name cannot drive the terminal, nor make lines of its own.
name=$'e\033[31mx\ny.cl'
echo 'kernel void k(global int* a) { a[0] = 1; }' > "$name"
for _ in 1 2; do
  oclcc "$name" -v -o k.clbin 2> log || echo "exit $?"
  grep -c $'\033' log
  grep -c '^y\.cl' log
done
true # grep found nothing
