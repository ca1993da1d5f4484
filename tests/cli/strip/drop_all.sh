#!/bin/bash
# Keeps only source, and nothing of programs without source.
make_bundle sample s.clbin
oclcc --strip --drop-target "*" s.clbin -o b.clbin
oclcc --info b.clbin | grep -v digest
# expected output:
#| b.clbin: bundle of format 1.0, 0 entries, 936 bytes
#|
#| program 'matmul', variant 'default'
#|   options   none
#|   source    kept: 2 files, 78 bytes
#|
#| program 'matmul', variant 'fast'
#|   options   -cl-fast-relaxed-math
#|   source    kept: 2 files, 78 bytes
# expected errors:
#| oclcc: note: b.clbin: program 'reduce' is empty and was removed
