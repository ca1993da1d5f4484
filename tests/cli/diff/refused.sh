#!/bin/bash
make_bundle sample a.clbin
head -c 3000 a.clbin > cut.clbin
oclcc --diff a.clbin; echo "exit $?"
oclcc --diff a.clbin a.clbin a.clbin; echo "exit $?"
oclcc --diff missing.clbin a.clbin; echo "exit $?"
oclcc --diff a.clbin cut.clbin; echo "exit $?"
mkdir folder
oclcc --diff a.clbin folder; echo "exit $?"
oclcc --diff a.clbin a.clbin; echo "exit $?" # a bundle does not differ from itself
# expected output:
#| exit 2
#| exit 2
#| exit 3
#| exit 4
#| exit 3
#| exit 0
# expected errors:
#| oclcc: error: '--diff' compares two bundles, not 1
#| oclcc: error: '--diff' compares two bundles, not 3
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 3000 bytes are present
#| oclcc: error: 'cut.clbin': blob 6 at offset 3312 needs 475 bytes of 3000
#| oclcc: error: cannot read 'folder': Is a directory
