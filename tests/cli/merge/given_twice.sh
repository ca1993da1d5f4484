#!/bin/bash
make_bundle sample s.clbin
ln -s s.clbin link.clbin
oclcc --merge s.clbin s.clbin link.clbin -o b.clbin; echo "exit $?"
cmp s.clbin b.clbin
oclcc -q --merge s.clbin s.clbin -o b.clbin
# expected output:
#| exit 0
# expected errors:
#| oclcc: warning: 's.clbin' is given twice
#| oclcc: warning: 'link.clbin' is given twice
