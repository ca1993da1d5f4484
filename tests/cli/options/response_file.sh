#!/bin/bash
# Words of a file, quoted as in a shell. Files in files, a loop, a missing file, an open quote, and
# a file that is too large.
printf '%s\n' "-DX='a b'" '"no such.cl"' > words
oclcc @words; echo "exit $?"
echo '@words' > outer
oclcc @outer; echo "exit $?"
echo '@loop' > loop
oclcc @loop; echo "exit $?"
oclcc @none; echo "exit $?"
oclcc -- @none; echo "exit $?"
printf 'a.cl -o "unterminated\n' > quotes
oclcc @quotes
echo "exit $?"
head -c 20000000 /dev/zero | tr '\0' ' ' > large
oclcc @large
echo "exit $?"
# expected output:
#| exit 3
#| exit 3
#| exit 2
#| exit 3
#| exit 3
#| exit 2
#| exit 3
# expected errors:
#| oclcc: error: cannot open 'no such.cl': No such file or directory
#| oclcc: error: cannot open 'no such.cl': No such file or directory
#| oclcc: error: response files are nested more than 16 deep at '@loop'
#| oclcc: error: cannot open 'none': No such file or directory
#| oclcc: error: cannot open '@none': No such file or directory
#| oclcc: error: 'quotes' ends within quotes
#| oclcc: error: 'large' is larger than the limit of 16777216 bytes
