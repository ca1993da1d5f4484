#!/bin/bash
make_bundle newer n.clbin
oclcc --info n.clbin
# expected exit status: 4
# expected errors:
#| oclcc: error: n.clbin: prefix: format version 2.0 is newer than 1.0, which this version reads
