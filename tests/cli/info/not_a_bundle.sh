#!/bin/bash
echo 'kernel void k() {}' > k.cl
oclcc --info k.cl; echo "exit $?"
: > empty.clbin
oclcc --info empty.clbin; echo "exit $?"
mkdir d
oclcc --info d; echo "exit $?"
oclcc --info none.clbin
