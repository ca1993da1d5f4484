#!/bin/bash
mkdir a b
echo 'kernel void k() {}' | tee a/k.cl > b/k.cl
oclcc a/k.cl b/k.cl -o x.clbin; echo "exit $?"
oclcc --program k=a/k.cl b/k.cl -o x.clbin
