#!/bin/bash
# oclcc finds out that it cannot write the output before it starts a driver. Here there is no
# driver, which would be exit 5.
export OCL_ICD_VENDORS=/no/such/folder
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
mkdir folder.clbin
oclcc k.cl -o no/k.clbin; echo "exit $?"
oclcc k.cl -o folder.clbin; echo "exit $?"
oclcc k.cl -o /proc/k.clbin; echo "exit $?"
oclcc k.cl -MD -MF no/k.d; echo "exit $?"
ls -A
# expected output:
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| folder.clbin
#| k.cl
# expected errors:
#| oclcc: error: cannot write 'no/k.clbin': No such file or directory
#| oclcc: error: cannot write 'folder.clbin': Is a directory
#| oclcc: error: cannot write '/proc/k.clbin': *
#| oclcc: error: cannot write 'no/k.d': No such file or directory
