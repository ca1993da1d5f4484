#!/bin/bash
# The commands in README work as printed.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
mkdir include
echo '#define N 1' > include/n.h
echo 'kernel void k(global float* p) { *p = 1; }' | tee scale.cl > k.cl
echo 'kernel void blur(global const float* in, global float* out) { *out = *in; }' > blur.cl
echo '#include <n.h>
kernel void k(global float* p) { *p = TILE + N; }' | tee a.cl > b.cl
cp "$ROOT/tests/unit/format/binaries/arguments.spv" library.spv
sed -n 's/^\$ \(oclcc .*\)$/\1/p' "$ROOT/README.md" > examples
while IFS= read -r example; do
  bash -c "$example" > /dev/null 2> errors
  status=$?
  # Without a GPU or a compiler, an example that requires one must fail.
  case "$example" in *'--device gpu'* | *'--target '*) [ $status = 5 ] && status=0 ;; esac
  [ $status = 0 ] || { echo "exit $status: $example"; cat errors; }
done < examples
[ "$(wc -l < examples)" -ge 5 ] && echo "done"
# expected output:
#| done
