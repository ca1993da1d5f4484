#!/bin/bash
# A payload that others are compressed against is kept, and a message says so. repack removes it.
make_bundle sample s.clbin
oclcc --strip --drop-target sm_50 --drop-target sm_80 s.clbin -o b.clbin; echo "exit $?"
oclcc -q --strip --drop-target sm_50 --drop-target sm_80 s.clbin -o quiet.clbin
cmp b.clbin quiet.clbin
# expected output:
#| exit 0
# expected errors:
#| oclcc: note: b.clbin: 1 removed payload remains hidden in it (203 bytes), because 1 kept payload is compressed against it; '--repack' removes it
