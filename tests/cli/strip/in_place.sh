#!/bin/bash
# Without -o, the bundle itself is replaced, as with strip(1). A link and the permissions are kept.
make_bundle sample s.clbin
cp s.clbin t.clbin
chmod 640 s.clbin
ln -s s.clbin link.clbin
oclcc --strip --drop-target nvptx link.clbin t.clbin; echo "exit $?"
cmp s.clbin t.clbin
oclcc --strip --drop-target cpu-b s.clbin -o s.clbin; echo "exit $?"
[ -L link.clbin ] && stat -c %a s.clbin
oclcc --info s.clbin | grep -c "^  entry"
oclcc --strip --strip-source - -o - < t.clbin > piped.clbin; echo "exit $?"
oclcc --info piped.clbin | grep "  source"
# expected output:
#| exit 0
#| exit 0
#| 640
#| 2
#| exit 0
#|   source    not kept
#|   source    not kept
#|   source    not kept
# expected errors:
#| oclcc: note: s.clbin: program 'reduce' is empty and was removed
