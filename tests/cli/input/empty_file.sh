#!/bin/bash
: > empty.cl
oclcc empty.cl
# expected exit status: 3
# expected errors:
#| oclcc: error: 'empty.cl' is empty
