#!/bin/bash
# Writes minisign's key files, and never replaces a file.
umask 022
oclcc --keygen k --no-passphrase; echo "exit $?"
stat -c '%a %n' k.key k.pub
echo text > text
minisign -S -s k.key -m text > log < /dev/null && minisign -V -q -p k.pub -m text && echo 'minisign signs with it'
minisign -R -s k.key -p again.pub > log < /dev/null && tail -n 1 again.pub | cmp - <(tail -n 1 k.pub)
oclcc --keygen l --no-passphrase
cmp -s k.key l.key || echo 'another key'
sha256sum k.key k.pub > sums
oclcc --keygen k --no-passphrase; echo "exit $?"
rm l.key && oclcc --keygen l --no-passphrase; echo "exit $?"
ln -s nowhere m.key && oclcc --keygen m --no-passphrase; echo "exit $?"
oclcc --keygen no/such/folder --no-passphrase; echo "exit $?"
oclcc --keygen n --no-passphrase > /dev/full; echo "exit $?" # prints nothing
(ulimit -f 0; oclcc --keygen o --no-passphrase); echo "exit $?"
sha256sum --quiet -c sums
ls
# expected output:
#| exit 0
#| 600 k.key
#| 644 k.pub
#| minisign signs with it
#| another key
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 0
#| exit 3
#| again.pub
#| k.key
#| k.pub
#| l.pub
#| log
#| m.key
#| n.key
#| n.pub
#| sums
#| text
#| text.minisig
# expected errors:
#| oclcc: error: cannot write 'k.key': File exists
#| oclcc: error: cannot write 'l.pub': File exists
#| oclcc: error: cannot write 'm.key': File exists
#| oclcc: error: cannot write 'no/such/folder.key': No such file or directory
#| oclcc: error: cannot write 'o.key': File too large
