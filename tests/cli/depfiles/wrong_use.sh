#!/bin/bash
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
cp k.cl l.cl
for option in -MF=x -MTx -MQx -MP; do
  oclcc "$option" k.cl; echo "exit $?"
done
oclcc -MD k.cl -o -; echo "exit $?"
oclcc -MD k.cl -o /dev/null; echo "exit $?"
oclcc -MD k.cl -o k.d; echo "exit $?"
oclcc -MD k.cl -MF k.cl; echo "exit $?"
oclcc -M k.cl -MF k.cl; echo "exit $?"
oclcc -MD k.cl -MF no/such/folder/k.d; echo "exit $?"
oclcc -M k.cl l.cl; echo "exit $?"
oclcc -M no.cl; echo "exit $?"
oclcc -M k.cl -MF; echo "exit $?"
cp k.cl $'line\nbreak.cl'
oclcc -M $'line\nbreak.cl' -MT x; echo "exit $?"
ls k.*
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
#| exit 3
#| exit 2
#| exit 3
#| exit 2
#| exit 2
#| k.cl
# expected errors:
#| oclcc: error: '-MF', '-MT', '-MQ' and '-MP' need '-M' or '-MD'
#| oclcc: error: '-MF', '-MT', '-MQ' and '-MP' need '-M' or '-MD'
#| oclcc: error: '-MF', '-MT', '-MQ' and '-MP' need '-M' or '-MD'
#| oclcc: error: '-MF', '-MT', '-MQ' and '-MP' need '-M' or '-MD'
#| oclcc: error: '-MD' has no file to write when the output is '-': give one with -MF
#| oclcc: error: '-MD' has no file to write when the output is '/dev/null': give one with -MF
#| oclcc: error: 'k.d' would be both the output and its rule
#| oclcc: error: 'k.cl' is both an input and the output
#| oclcc: error: 'k.cl' is both an input and the output
#| oclcc: error: cannot write 'no/such/folder/k.d': No such file or directory
#| oclcc: error: the rule for several inputs has no target: give one with -MT
#| oclcc: error: cannot open 'no.cl': No such file or directory
#| oclcc: error: option '-MF' needs a value: -MF FILE
#| oclcc: error: a rule cannot contain a name with a line break: 'line?break.cl'
