#!/bin/bash
oclcc --help > /dev/full; echo "exit $?"
oclcc --version > /dev/full; echo "exit $?"
make_bundle sample s.clbin
oclcc --info s.clbin > /dev/full; echo "exit $?"
oclcc --info --json s.clbin > /dev/full
