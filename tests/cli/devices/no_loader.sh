#!/bin/bash
# The ICD loader is missing, or is not a library: exit 5, and a note about what to install.
mkdir broken
: > broken/libOpenCL.so.1
: > broken/libOpenCL.so
export LD_LIBRARY_PATH=$PWD/broken
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl; echo "exit $?"
oclcc --list-devices; echo "exit $?"
oclcc --version > /dev/null; echo "exit $?"
ls
# expected output:
#| exit 5
#| exit 5
#| exit 0
#| broken
#| k.cl
# expected errors:
#| oclcc: error: cannot open the OpenCL loader (*/broken/libOpenCL.so.1: file too short)
#| oclcc: error: cannot open the OpenCL loader (*/broken/libOpenCL.so.1: file too short)
