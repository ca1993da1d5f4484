#!/bin/bash
# A file that is not a bundle starts no driver.
echo "no bundle" > n.clbin
oclcc --explain n.clbin; echo "exit $?"
oclcc --explain missing.clbin; echo "exit $?"
oclcc --explain; echo "exit $?"
