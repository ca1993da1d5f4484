#!/bin/bash
# A failed allocation is exit 6 and a message, not an abort.
[ -z "$ASAN_OPTIONS$TSAN_OPTIONS" ] || { echo "sanitizers need all of the memory"; exit 77; }
oclcc --version > /dev/null
head -c 12000000 /dev/zero | tr '\0' 'x' > long
printf '%s' ' @long @long @long @long @long @long @long @long' > words
ulimit -v 100000
oclcc @words; echo "exit $?"
# expected output:
#| exit 6
# expected errors:
#| oclcc: error: out of memory
