#!/bin/bash
oclcc
# expected exit status: 2
# expected errors:
#| oclcc: error: no input file; 'oclcc --help' lists the common options
