#!/bin/bash
make_bundle sample s.clbin
ln -s s.clbin link.clbin
oclcc --merge s.clbin s.clbin link.clbin -o b.clbin; echo "exit $?"
cmp s.clbin b.clbin
oclcc -q --merge s.clbin s.clbin -o b.clbin
