#!/bin/bash
# @FILE: nested, quoted, with spaces in its name, relative to the working directory. "@" alone, and
# "@FILE" after "--", are ordinary words.
mkdir d
echo '"@d/inner words" -M' > outer
printf '%s\n' '-D"X=a b" -I '"'in c'" 'k.cl -MT "x\ y"' '-MP' > 'd/inner words'
mkdir 'in c'
echo '#include <h.h>
kernel void k(global int* a) { *a = 1; }' > k.cl
touch 'in c/h.h'
oclcc @outer; echo "exit $?"
oclcc -M @; echo "exit $?"
oclcc -M -- @outer | head -1
printf '"unclosed -M k.cl' > unclosed
oclcc @unclosed; echo "exit $?"
oclcc @d/none; echo "exit $?"
oclcc @d; echo "exit $?"
: > empty
oclcc @empty; echo "exit $?"
# expected output:
#| x\ y: k.cl in\ c/h.h
#| in\ c/h.h:
#| exit 0
#| exit 3
#| exit 2
#| exit 3
#| exit 3
#| exit 2
# expected errors:
#| oclcc: error: cannot open '@': No such file or directory
#| oclcc: error: cannot open '@outer': No such file or directory
#| oclcc: error: 'unclosed' ends within quotes
#| oclcc: error: cannot open 'd/none': No such file or directory
#| oclcc: error: cannot read 'd': Is a directory
#| oclcc: error: no input file; 'oclcc --help' lists the common options
