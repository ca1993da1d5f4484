#!/bin/bash
oclcc none.cl; echo "exit $?"
oclcc one.cl two.cl -o out.clbin; echo "exit $?"
ls
# expected output:
#| exit 3
#| exit 3
# expected errors:
#| oclcc: error: cannot open 'none.cl': No such file or directory
#| oclcc: error: cannot open 'one.cl': No such file or directory
#| oclcc: error: cannot open 'two.cl': No such file or directory
