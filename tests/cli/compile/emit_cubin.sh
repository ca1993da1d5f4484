#!/bin/bash
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
# ptxas makes a cubin beside the PTX of each NVIDIA device. Other devices get the same as without.
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl -o plain.clbin
nvidia_count=$(oclcc --info plain.clbin | grep -c '^  entry.*PTX')
if [ "$nvidia_count" -gt 0 ] && ! PATH="$PATH:/usr/local/cuda/bin" command -v ptxas > /dev/null; then
  oclcc --emit-cubin k.cl -o cubin.clbin
  status=$?
  [ $status -eq 5 ] && [ ! -e cubin.clbin ] && echo "as it should be"
  exit
fi
oclcc --emit-cubin k.cl -o cubin.clbin || exit
cubin_count=$(oclcc --info cubin.clbin | grep -c '^  entry.*cubin')
if [ "$nvidia_count" -eq 0 ]; then
  cmp plain.clbin cubin.clbin && echo "as it should be"
elif [ "$cubin_count" -eq "$nvidia_count" ]; then
  echo "as it should be"
fi
# expected output:
#| as it should be
