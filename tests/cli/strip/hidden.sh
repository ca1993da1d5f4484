#!/bin/bash
# What others are compressed against stays, and the command says so; repack takes it out.
make_bundle sample s.clbin
oclcc --strip --drop-target sm_50 --drop-target sm_80 s.clbin -o b.clbin; echo "exit $?"
oclcc -q --strip --drop-target sm_50 --drop-target sm_80 s.clbin -o quiet.clbin
cmp b.clbin quiet.clbin
