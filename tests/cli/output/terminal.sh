#!/bin/bash
# Binaries are not written to a terminal, but text is. The refusal starts no driver.
export OCL_ICD_VENDORS=/no/such/folder NO_COLOR=1
command -v script > /dev/null || { echo "there is no script(1)"; exit 77; }
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
script -qec 'oclcc k.cl -o -' /dev/null | tr -d '\r'; echo "exit ${PIPESTATUS[0]}"
script -qec 'oclcc --emit=bin k.cl -o -' /dev/null | tr -d '\r'; echo "exit ${PIPESTATUS[0]}"
script -qec 'oclcc k.cl -o /dev/null' /dev/null | tr -d '\r' | grep -c terminal
script -qec 'oclcc --emit=ptx k.cl -o -' /dev/null | tr -d '\r' | grep -c terminal
true
# expected output:
#| oclcc: error: cannot write a binary to a terminal: redirect standard output or name a file with -o
#| exit 2
#| oclcc: error: cannot write a binary to a terminal: redirect standard output or name a file with -o
#| exit 2
#| 0
#| 0
