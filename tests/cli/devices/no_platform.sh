#!/bin/bash
# Exit 5, and a note about what to install.
mkdir none
export OCL_ICD_VENDORS=$PWD/none
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl; echo "exit $?"
oclcc --list-devices; echo "exit $?"
oclcc --list-devices --json; echo "exit $?"
ls
