#!/bin/bash
make_bundle sample a.clbin
head -c 3000 a.clbin > cut.clbin
oclcc --diff a.clbin; echo "exit $?"
oclcc --diff a.clbin a.clbin a.clbin; echo "exit $?"
oclcc --diff missing.clbin a.clbin; echo "exit $?"
oclcc --diff a.clbin cut.clbin; echo "exit $?"
mkdir folder
oclcc --diff a.clbin folder; echo "exit $?"
oclcc --diff a.clbin a.clbin; echo "exit $?" # a bundle does not differ from itself
