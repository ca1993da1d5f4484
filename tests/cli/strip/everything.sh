#!/bin/bash
# Stripping everything is an error, and does not change the file.
make_bundle sample s.clbin
cp s.clbin before.clbin
oclcc --strip --drop-target "*" --strip-source s.clbin; echo "exit $?"
oclcc --strip --keep-target nothing --strip-source s.clbin -o b.clbin; echo "exit $?"
ls
cmp s.clbin before.clbin
# expected output:
#| exit 2
#| exit 2
#| before.clbin
#| s.clbin
# expected errors:
#| oclcc: error: s.clbin: nothing would remain: no program would have source or an entry
#| oclcc: warning: s.clbin: no target matches 'nothing'; there are 'cpu-a' (Portable Computing Language), 'cpu-b' (Portable Computing Language), 'nvptx:sm_50', 'nvptx:sm_70', 'nvptx:sm_80'
#| oclcc: error: s.clbin: nothing would remain: no program would have source or an entry
