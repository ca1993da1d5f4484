#!/bin/bash
# repack removes the payloads that strip had to keep, also in place.
make_bundle sample s.clbin
oclcc -q --strip --drop-target sm_50 --drop-target sm_80 s.clbin -o b.clbin
oclcc --strip --strip-reflection b.clbin
oclcc --repack b.clbin; echo "exit $?"
oclcc --strip --strip-reflection b.clbin -o c.clbin
cmp b.clbin c.clbin || echo differs
oclcc --info b.clbin | grep -E "^(program|  entry)"
# expected output:
#| exit 0
#| program 'matmul', variant 'default'
#|   entry     PTX 7.5 for sm_70
#|   entry     PoCL binary
#| program 'matmul', variant 'fast'
#|   entry     Portable Computing Language binary
#|   entry     PTX 7.5 for sm_70
#| program 'reduce', variant 'default'
#|   entry     PoCL binary
# expected errors:
#| oclcc: note: b.clbin: 1 removed payload remains hidden in it (203 bytes), because 1 kept payload is compressed against it; '--repack' removes it
