#!/bin/bash
oclcc --help > /dev/full; echo "exit $?"
oclcc --version > /dev/full; echo "exit $?"
make_bundle sample s.clbin
oclcc --info s.clbin > /dev/full; echo "exit $?"
oclcc --info --json s.clbin > /dev/full
# expected exit status: 3
# expected output:
#| exit 3
#| exit 3
#| exit 3
# expected errors:
#| oclcc: error: cannot write to standard output: No space left on device
#| oclcc: error: cannot write to standard output: No space left on device
#| oclcc: error: cannot write to standard output: No space left on device
#| oclcc: error: cannot write to standard output: No space left on device
