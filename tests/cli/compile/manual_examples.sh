#!/bin/bash
# The commands in the manual pages of oclcc and clbin(5) work as printed, one after another.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global float* p) { *p = 1; }' > kernel.cl
first=$(echo "$devices" | head -1)
oclcc kernel.cl --device "$first" -o a.clbin
oclcc kernel.cl -o b.clbin
{
  sed -n 's/^\.Dl \(oclcc .*\)$/\1/p; s/^\.Ic \(oclcc .*\)$/\1/p' "$ROOT"/man/oclcc.1 "$ROOT"/man/oclcc-*.7
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
byte=$(od -An -tu1 -j70 -N1 kernel.clbin)
printf "\\$(printf %03o $((byte ^ 1)))" | dd of=kernel.clbin bs=1 seek=70 conv=notrunc status=none && python3 check.py
[ -s kernel.hpp ] && [ -s smaller.clbin ] && [ "$(ls binaries)" ] && [ "$(wc -l < examples)" -ge 10 ] && echo "done"
# expected output:
#| 0000000 c7 43 4c 42 4e 0d 0a 1a 01 00 00 00 *
#| good
#| damaged
#| done
