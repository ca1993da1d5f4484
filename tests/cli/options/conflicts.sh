#!/bin/bash
oclcc --info --list-devices; echo "exit $?"
oclcc --json a.cl; echo "exit $?"
oclcc --info a.clbin -o b.clbin; echo "exit $?"
oclcc --list-devices a.cl; echo "exit $?"
oclcc --info; echo "exit $?"
oclcc - -
