#!/bin/bash
# If the disk is full, oclcc prints an error, keeps the old file, and leaves no temporary file.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
mkdir small
unshare -rm true 2> /dev/null || { echo "this machine forbids mount namespaces"; exit 77; }
unshare -rm bash -c '
  mount -t tmpfs -o size=8k none small || { echo "cannot mount a tmpfs"; exit 77; }
  echo old > small/k.clbin
  oclcc k.cl -o small/k.clbin; echo "exit $?"
  cat small/k.clbin
  ls -A small'
# expected output:
#| exit 3
#| old
#| k.clbin
# expected errors:
#| oclcc: error: cannot write 'small/k.clbin': No space left on device
