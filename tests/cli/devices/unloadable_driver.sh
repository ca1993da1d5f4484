#!/bin/bash
# A driver is installed but cannot be loaded. The message states the reason and does not ask to
# install one.
[ -z "$ASAN_OPTIONS$TSAN_OPTIONS" ] || { echo "sanitizers need all of the memory"; exit 77; }
mkdir broken none
echo "no library" > broken/driver.so
echo "$PWD/broken/driver.so" > broken/driver.icd
OCL_ICD_VENDORS=$PWD/broken oclcc --list-devices; echo "exit $?"
ulimit -v 8388608
OCL_ICD_VENDORS=$PWD/broken oclcc --list-devices; echo "exit $?"
OCL_ICD_VENDORS=$PWD/none oclcc --list-devices; echo "exit $?"
# expected output:
#| exit 5
#| exit 5
#| exit 5
# expected errors:
#| oclcc: error: no OpenCL device found: cannot load '*/broken/driver.so': */broken/driver.so: *
#| oclcc: error: no OpenCL device found: cannot load '*/broken/driver.so': */broken/driver.so: *; this process may use no more than 8192 MiB of virtual memory (ulimit -v)
#| oclcc: error: no OpenCL device found; this process may use no more than 8192 MiB of virtual memory (ulimit -v)
