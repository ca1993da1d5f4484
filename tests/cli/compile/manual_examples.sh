#!/bin/bash
# The commands in oclcc(1) and clbin(5) work as printed, one after another.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global float* p) { *p = 1; }' > kernel.cl
first=$(echo "$devices" | head -1)
oclcc kernel.cl --device "$first" -o a.clbin
oclcc kernel.cl -o b.clbin
{
  sed -n 's/^\.Dl \(oclcc .*\)$/\1/p; s/^\.Ic \(oclcc .*\)$/\1/p' "$ROOT/man/oclcc.1"
  sed -n 's/^\.Dl \(od .*\)$/\1/p' "$ROOT/man/clbin.5"
} > examples
while IFS= read -r example; do
  [ -e kernel.clbin ] || cp b.clbin kernel.clbin
  bash -c "$example" > output 2> errors
  status=$?
  # Without a GPU, an example that requires one must fail.
  case "$example" in *'--device gpu'*) [ $status = 5 ] && status=0 ;; esac
  [ $status = 0 ] || { echo "exit $status: $example"; cat errors; }
  case "$example" in 'od '*) head -1 output ;; esac
done < examples
sed -n '/^import hashlib$/,/^\.Ed$/p' "$ROOT/man/clbin.5" | sed '$d' > check.py
oclcc kernel.cl -o kernel.clbin && python3 check.py
printf '\1' | dd of=kernel.clbin bs=1 seek=70 conv=notrunc status=none && python3 check.py
[ -s kernel.hpp ] && [ -s smaller.clbin ] && [ "$(ls binaries)" ] && [ "$(wc -l < examples)" -ge 10 ] && echo "done"
