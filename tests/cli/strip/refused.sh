#!/bin/bash
make_bundle sample s.clbin
head -c 300 s.clbin > cut.clbin
echo no > text
mkdir folder
oclcc --strip s.clbin; echo "exit $?"
oclcc --strip --strip-source; echo "exit $?"
oclcc --strip --strip-source s.clbin s.clbin -o b.clbin; echo "exit $?"
oclcc --strip --strip-source - < s.clbin; echo "exit $?"
oclcc --strip --strip-source missing.clbin s.clbin; echo "exit $?"
oclcc --info s.clbin | grep "  source"
oclcc --strip --strip-source cut.clbin -o b.clbin; echo "exit $?"
oclcc --strip --strip-source text -o b.clbin; echo "exit $?"
oclcc --strip --drop-target nvptx s.clbin -o folder; echo "exit $?"
oclcc --strip --strip-source folder -o b.clbin; echo "exit $?"
cp s.clbin t.clbin
oclcc --strip --drop-target cpu t.clbin t.clbin; echo "exit $?" # the second time, none is left
oclcc --strip --drop-target nvptx s.clbin -o no/such/folder; echo "exit $?"
oclcc --strip --device gpu s.clbin; echo "exit $?"
oclcc --drop-target nvptx a.cl; echo "exit $?"
ls
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 3
#|   source    not kept
#|   source    not kept
#|   source    not kept
#| exit 4
#| exit 4
#| exit 3
#| exit 3
#| exit 0
#| exit 3
#| exit 2
#| exit 2
#| cut.clbin
#| folder
#| s.clbin
#| t.clbin
#| text
# expected errors:
#| oclcc: error: '--strip' needs '--keep-target', '--drop-target', '--strip-source' or '--strip-reflection'
#| oclcc: error: '--strip' needs a bundle
#| oclcc: error: '-o' accepts the output of '--strip' for one bundle, but 2 are given
#| oclcc: error: '--strip' cannot replace standard input: name an output with '-o'
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 300 bytes are present
#| oclcc: error: text: not a bundle: it starts with 6e 6f 0a
#| oclcc: error: cannot write 'folder': Is a directory
#| oclcc: error: cannot read 'folder': Is a directory
#| oclcc: warning: t.clbin: no target matches 'cpu'; there are 'nvptx:sm_50', 'nvptx:sm_70', 'nvptx:sm_80'
#| oclcc: error: cannot write 'no/such/folder': No such file or directory
#| oclcc: error: '--device' cannot be used with '--strip'
#| oclcc: error: '--drop-target' needs *'--strip'
