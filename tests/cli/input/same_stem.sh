#!/bin/bash
mkdir a b
echo 'kernel void k() {}' | tee a/k.cl > b/k.cl
oclcc a/k.cl b/k.cl -o x.clbin; echo "exit $?"
oclcc --program k=a/k.cl b/k.cl -o x.clbin
# expected exit status: 2
# expected output:
#| exit 2
# expected errors:
#| oclcc: error: 'a/k.cl' and 'b/k.cl' would both be program 'k'; name one of them with '--program NAME=FILE'
#| oclcc: error: 'a/k.cl' and 'b/k.cl' would both be program 'k'; name one of them with '--program NAME=FILE'
