#!/bin/bash
# Prints each bundle. The exit status is that of the first error.
make_bundle sample s.clbin
oclcc --info s.clbin none.clbin - < s.clbin > out; echo "exit $?"
grep -v '^ ' out
