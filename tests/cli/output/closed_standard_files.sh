#!/bin/bash
# If standard files are closed, no output gets their numbers, and no messages are written into it.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
printf 'kernel void k(global int* a) {\n#warning hello\n  a[0] = 1;\n}\n' > warn.cl
oclcc warn.cl --no-cache -v -o kept.clbin 2> /dev/null
oclcc warn.cl --no-cache -v -o closed.clbin <&- >&- 2>&-
echo "exit $?"
cmp kept.clbin closed.clbin && echo "the same bundle"
oclcc - -fsyntax-only <&-
echo "exit $?"
oclcc warn.cl -w --no-cache -o - >&-
echo "exit $?"
# expected output:
#| exit 0
#| the same bundle
#| exit 3
#| exit 3
# expected errors:
#| oclcc: error: cannot read standard input: Bad file descriptor
#| oclcc: error: cannot write standard output: Bad file descriptor
