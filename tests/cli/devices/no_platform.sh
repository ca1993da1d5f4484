#!/bin/bash
# Exit 5, and a note about what to install.
mkdir none
export OCL_ICD_VENDORS=$PWD/none
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl; echo "exit $?"
oclcc --list-devices; echo "exit $?"
oclcc --list-devices --json; echo "exit $?"
ls
# expected output:
#| exit 5
#| exit 5
#| exit 5
#| k.cl
#| none
# expected errors:
#| oclcc: error: no OpenCL device found; install a driver: your GPU vendor's, or pocl-opencl-icd for the CPU
#| oclcc: note: '--target' compiles without a device, for the targets of '--list-targets'; '--source-only' writes a bundle of the sources
#| oclcc: error: no OpenCL device found; install a driver: your GPU vendor's, or pocl-opencl-icd for the CPU
#| oclcc: error: no OpenCL device found; install a driver: your GPU vendor's, or pocl-opencl-icd for the CPU
