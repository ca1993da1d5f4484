#!/bin/bash
make_bundle sample s.clbin
head -c 3000 s.clbin > cut.clbin
touch file
oclcc --extract; echo "exit $?"
oclcc --extract s.clbin --program nothing -o out; echo "exit $?"
oclcc --extract s.clbin --variant nothing -o out; echo "exit $?"
oclcc --extract s.clbin --program reduce --variant fast -o out; echo "exit $?"
oclcc --extract s.clbin --keep-target amdgcn -o out; echo "exit $?"
oclcc --extract s.clbin -o -; echo "exit $?"
oclcc --extract s.clbin --json -o -; echo "exit $?"
oclcc --extract s.clbin s.clbin -o -; echo "exit $?"
oclcc --extract s.clbin -o file; echo "exit $?"
mkdir -p out2/matmul.default.nvptx_sm_50.ptx
oclcc --extract s.clbin --keep-target sm_50 -o out2; echo "exit $?"
oclcc --extract s.clbin s.clbin -o out3; echo "exit $?"
oclcc --extract s.clbin -o s.clbin; echo "exit $?"
mkdir folder
oclcc --extract folder -o out; echo "exit $?"
oclcc --extract cut.clbin missing.clbin -o out; echo "exit $?"
ls
