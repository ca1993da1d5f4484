#!/bin/bash
mkdir d.cl
oclcc d.cl
# expected exit status: 3
# expected errors:
#| oclcc: error: cannot read 'd.cl': Is a directory
