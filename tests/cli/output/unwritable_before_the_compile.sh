#!/bin/bash
# An output that cannot be written is found before any driver is started: here there is none, which
# would be exit 5.
export OCL_ICD_VENDORS=/no/such/folder
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
mkdir folder.clbin
oclcc k.cl -o no/k.clbin; echo "exit $?"
oclcc k.cl -o folder.clbin; echo "exit $?"
oclcc k.cl -o /proc/k.clbin; echo "exit $?"
oclcc k.cl -MD -MF no/k.d; echo "exit $?"
ls -A
