#!/bin/bash
# The way in which payloads are stored makes no difference.
make_bundle sample a.clbin
oclcc --diff a.clbin a.clbin; echo "exit $?"
oclcc --repack a.clbin -o b.clbin
cmp -s a.clbin b.clbin || echo "other bytes"
oclcc --diff a.clbin b.clbin; echo "exit $?"
oclcc --diff --json - b.clbin < a.clbin; echo "exit $?"
# expected output:
#| exit 0
#| other bytes
#| exit 0
#| {
#|   "differences": [],
#|   "same": true,
#|   "version": 1
#| }
#| exit 0
