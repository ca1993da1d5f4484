#!/bin/bash
# A file that is not a bundle starts no driver.
echo "no bundle" > n.clbin
oclcc --explain n.clbin; echo "exit $?"
oclcc --explain missing.clbin; echo "exit $?"
oclcc --explain; echo "exit $?"
# expected output:
#| exit 4
#| exit 3
#| exit 2
# expected errors:
#| oclcc: error: n.clbin: not a bundle: it starts with 6e 6f 20 62 75 6e 64 6c
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: '--explain' needs a bundle
