#!/bin/bash
# What is no bundle starts no driver.
echo "no bundle" > n.clbin
oclcc --explain n.clbin; echo "exit $?"
oclcc --explain missing.clbin; echo "exit $?"
oclcc --explain; echo "exit $?"
