#!/bin/bash
echo 'kernel void k() {}' > k.cl
oclcc -include none.h k.cl
# expected exit status: 3
# expected errors:
#| oclcc: error: cannot open 'none.h', which '-include' names: No such file or directory
