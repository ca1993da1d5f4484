#!/bin/bash
# Merges the units of a bundle in any order. Repacked, the result equals the bundle made in one run.
make_bundle sample whole.clbin
for i in 0 1 2 3 4 5 6; do make_bundle unit $i "$i.clbin"; done
oclcc --merge [0-6].clbin -o a.clbin; echo "exit $?"
oclcc --merge 3.clbin 6.clbin 0.clbin 5.clbin 1.clbin 4.clbin 2.clbin -o b.clbin
cmp a.clbin b.clbin
oclcc --info a.clbin | grep -E "^(program|  source|  entry)"
oclcc --repack a.clbin -o a_repacked.clbin
oclcc --repack whole.clbin -o whole_repacked.clbin
cmp a_repacked.clbin whole_repacked.clbin
# expected output:
#| exit 0
#| program 'matmul', variant 'default'
#|   source    kept: 2 files, 78 bytes
#|   entry     PTX 7.5 for sm_50
#|   entry     PTX 7.5 for sm_70
#|   entry     PoCL binary
#| program 'matmul', variant 'fast'
#|   source    kept: 2 files, 78 bytes
#|   entry     Portable Computing Language binary
#|   entry     PTX 7.5 for sm_70
#| program 'reduce', variant 'default'
#|   source    not kept
#|   entry     PTX 7.5 for sm_80
#|   entry     PoCL binary
