#!/bin/bash
# Headers and forced includes are inputs too, and are not overwritten.
echo '#include "h.inc"' > k.cl
echo 'kernel void k(global int* a) { *a = 1; }' > h.inc
echo '#define A 1' > f.inc
oclcc k.cl -o h.inc
echo "exit $?"
oclcc k.cl -include f.inc -o f.inc
echo "exit $?"
cat h.inc f.inc
# expected output:
#| exit 2
#| exit 2
#| kernel void k(global int* a) { *a = 1; }
#| #define A 1
# expected errors:
#| oclcc: error: 'h.inc' is both an input and the output
#| oclcc: error: 'f.inc' is both an input and the output
