#!/bin/bash
# Stripping everything is an error, and does not change the file.
make_bundle sample s.clbin
cp s.clbin before.clbin
oclcc --strip --drop-target "*" --strip-source s.clbin; echo "exit $?"
oclcc --strip --keep-target nothing --strip-source s.clbin -o b.clbin; echo "exit $?"
ls
cmp s.clbin before.clbin
