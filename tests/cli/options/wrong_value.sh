#!/bin/bash
oclcc -j0 a.cl; echo "exit $?"
oclcc -j many a.cl; echo "exit $?"
oclcc --timeout=-1 a.cl; echo "exit $?"
oclcc --color=red a.cl; echo "exit $?"
oclcc --program a.cl; echo "exit $?"
oclcc --program a= ; echo "exit $?"
oclcc --variant -DX a.cl; echo "exit $?"
oclcc --specialize k=16x a.cl; echo "exit $?"
oclcc --variant v=-Og a.cl; echo "exit $?"
oclcc --variant v=-w --variant v=-w a.cl; echo "exit $?"
oclcc --help=unknown; echo "exit $?"
oclcc --info=yes a.clbin
# expected exit status: 2
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: '-j' requires a number from 1 to 1024, not '0'
#| oclcc: error: '-j' requires a number from 1 to 1024, not 'many'
#| oclcc: error: '--timeout' requires a number from 1 to 86400, not '-1'
#| oclcc: error: '--color' accepts auto, always or never, not 'red'
#| oclcc: error: '--program' requires NAME=FILE, not 'a.cl'
#| oclcc: error: '--program a=' names no file
#| oclcc: error: '--variant' requires NAME='OPTIONS', not '-DX'
#| oclcc: error: '--specialize' requires KERNEL=SIZE, such as matmul=16x16 or scale=64, with one to three numbers from 1 to 65536; not 'k=16x'
#| oclcc: error: variant 'v': unrecognized option '-Og'
#| oclcc: error: variant 'v' is given twice
#| oclcc: error: '--help' accepts common or all, not 'unknown'
#| oclcc: error: option '--info' accepts no value
