#!/bin/bash
# Looks for neither a platform nor the ICD loader.
make_bundle sample s.clbin
oclcc --info s.clbin > with
mkdir none
OCL_ICD_VENDORS=$PWD/none oclcc --info s.clbin | cmp - with
mkdir broken && : > broken/libOpenCL.so.1
LD_LIBRARY_PATH=$PWD/broken oclcc --info s.clbin | cmp - with
if command -v strace > /dev/null; then
  strace -f -e trace=openat oclcc --info s.clbin 2>&1 > /dev/null | grep -i -E 'opencl|\.icd'
  true
fi
