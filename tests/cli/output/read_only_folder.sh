#!/bin/bash
# In a folder of a read-only file system, in which not even root can write.
export OCL_ICD_VENDORS=/no/such/folder
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
mkdir small
unshare -rm true 2> /dev/null || { echo "this machine forbids mount namespaces"; exit 77; }
unshare -rm bash -c '
  mount -t tmpfs -o ro none small || { echo "cannot mount a tmpfs"; exit 77; }
  oclcc k.cl -o small/k.clbin; echo "exit $?"'
# expected output:
#| exit 3
# expected errors:
#| oclcc: error: cannot write 'small/k.clbin': Read-only file system
