#!/bin/bash
# repack removes the payloads that strip had to keep, also in place.
make_bundle sample s.clbin
oclcc -q --strip --drop-target sm_50 --drop-target sm_80 s.clbin -o b.clbin
oclcc --strip --strip-reflection b.clbin
oclcc --repack b.clbin; echo "exit $?"
oclcc --strip --strip-reflection b.clbin -o c.clbin
cmp b.clbin c.clbin || echo differs
oclcc --info b.clbin | grep -E "^(program|  entry)"
