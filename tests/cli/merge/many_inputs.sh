#!/bin/bash
# More inputs than the soft limit of open files allows, which --merge raises; the hard limit stays.
mkdir units
make_bundle units 300 100 units
ls units/* > list
oclcc --merge @list -o whole.clbin
(
  ulimit -Sn 100
  oclcc --merge @list -o limited.clbin
)
cmp limited.clbin whole.clbin && echo "the same"
(
  ulimit -n 100
  oclcc --merge @list -o none.clbin 2>&1 | head -1 | cut -d : -f 1,2,4
)
ls
# expected output:
#| the same
#| oclcc: error: Too many open files
#| limited.clbin
#| list
#| units
#| whole.clbin
