#!/bin/bash
cp /bin/true true.cl
oclcc true.cl
# expected exit status: 3
# expected errors:
#| oclcc: error: 'true.cl' is not source text: it contains a zero byte at offset 7
