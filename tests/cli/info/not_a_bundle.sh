#!/bin/bash
echo 'kernel void k() {}' > k.cl
oclcc --info k.cl; echo "exit $?"
: > empty.clbin
oclcc --info empty.clbin; echo "exit $?"
mkdir d
oclcc --info d; echo "exit $?"
oclcc --info none.clbin
# expected exit status: 3
# expected output:
#| exit 4
#| exit 4
#| exit 3
# expected errors:
#| oclcc: error: k.cl: not a bundle: it starts with 6b 65 72 6e 65 6c 20 76
#| oclcc: note: 'k.cl' looks like OpenCL source: compile it first: oclcc k.cl
#| oclcc: error: empty.clbin: not a bundle: it is empty
#| oclcc: error: cannot read 'd': Is a directory
#| oclcc: error: cannot open 'none.clbin': No such file or directory
