#!/bin/bash
# Prints each bundle. The exit status is that of the first error.
make_bundle sample s.clbin
oclcc --info s.clbin none.clbin - < s.clbin > out; echo "exit $?"
grep -v '^ ' out
# expected output:
#| exit 3
#| s.clbin: bundle of format 1.0, 7 entries, * bytes
#|
#| program 'matmul', variant 'default'
#|
#| program 'matmul', variant 'fast'
#|
#| program 'reduce', variant 'default'
#|
#| <stdin>: bundle of format 1.0, 7 entries, * bytes
#|
#| program 'matmul', variant 'default'
#|
#| program 'matmul', variant 'fast'
#|
#| program 'reduce', variant 'default'
# expected errors:
#| oclcc: error: cannot open 'none.clbin': No such file or directory
