#!/bin/bash
# Stripping everything is an error, and leaves the file as it was.
make_bundle sample s.clbin
cp s.clbin before.clbin
oclcc --strip --drop-target "*" --strip-source s.clbin; echo "exit $?"
oclcc --strip --keep-target nothing --strip-source s.clbin -o b.clbin; echo "exit $?"
ls
cmp s.clbin before.clbin
