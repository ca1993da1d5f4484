#!/bin/bash
oclcc --info --list-devices; echo "exit $?"
oclcc --json a.cl; echo "exit $?"
oclcc --info a.clbin -o b.clbin; echo "exit $?"
oclcc --list-devices a.cl; echo "exit $?"
oclcc --info; echo "exit $?"
oclcc - -
# expected exit status: 2
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: '--info' and '--list-devices' cannot be used together
#| oclcc: error: '--json' needs '--info', '--list-devices'*
#| oclcc: error: '-o' cannot be used with '--info'
#| oclcc: error: '--list-devices' accepts no input file, but 'a.cl' is given
#| oclcc: error: '--info' needs a bundle
#| oclcc: error: standard input ('-') is given more than once
