#!/bin/bash
# A bundle of sources, with their headers and variants, needs neither a driver nor a compiler.
export OCL_ICD_VENDORS=/nonexistent OPENCL_VENDOR_PATH=/nonexistent
echo '#define N 1' > h.h
printf '#include "h.h"\nkernel void k(global int* a) { *a = N; }\n' > k.cl
echo 'this is no kernel' > wrong.cl
oclcc=$(command -v oclcc)
PATH=/nonexistent "$oclcc" k.cl wrong.cl --source-only --variant one=-DX=1 --variant two= -o k.clbin && oclcc --info -v k.clbin
oclcc --verify k.clbin && oclcc --extract --program k k.clbin -o source && ls source
oclcc k.cl --source-only -M | head -1
for words in "--no-source" "--target spirv:1.2" "--device cpu" "--emit-cubin" "-fsyntax-only" "-###" "-o k.ptx" "--specialize k=8"; do
  # shellcheck disable=SC2086
  oclcc k.cl --source-only $words; echo "exit $?"
done
oclcc --info -v k.clbin --source-only; echo "exit $?"
ls
# expected output:
#| k.clbin: bundle of format 1.0, 0 entries, * bytes
#|   digest    *
#|
#| program 'k', variant 'one'
#|   options   -DX=1
#|   source    kept: 2 files, 68 bytes
#|
#| program 'k', variant 'two'
#|   options   none
#|   source    kept: 2 files, 68 bytes
#|
#| program 'wrong', variant 'one'
#|   options   -DX=1
#|   source    kept: 1 file, 18 bytes
#|
#| program 'wrong', variant 'two'
#|   options   none
#|   source    kept: 1 file, 18 bytes
#| k.source
#| k.clbin: k.cl h.h
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| h.h
#| k.cl
#| k.clbin
#| source
#| wrong.cl
# expected errors:
#| oclcc: error: '--source-only' compiles nothing, and cannot be used with '--no-source'
#| oclcc: error: '--source-only' compiles nothing, and cannot be used with '--target'
#| oclcc: error: '--source-only' compiles nothing, and cannot be used with '--device'
#| oclcc: error: '--source-only' compiles nothing, and cannot be used with '--emit-cubin'
#| oclcc: error: '--source-only' compiles nothing, and cannot be used with '-fsyntax-only'
#| oclcc: error: '--source-only' compiles nothing, and cannot be used with '-###'
#| oclcc: error: '--source-only' is for bundles, but 'k.ptx' is not one
#| oclcc: error: '--source-only' compiles nothing, and cannot be used with '--specialize'
#| oclcc: error: '--source-only' cannot be used with '--info'
