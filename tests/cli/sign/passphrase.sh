#!/bin/bash
# A passphrase comes from a file or from standard input, and minisign accepts the same one. Each use
# of one takes a second and 1 GiB.
make_bundle sample s.clbin
echo 'correct horse' > pass
echo 'wrong horse' > wrong
oclcc --keygen k --passphrase-file pass; echo "exit $?"
stat -c '%a %n' k.key
cp s.clbin before.clbin
oclcc --sign --key k.key --passphrase-file wrong s.clbin; echo "exit $?"
cmp s.clbin before.clbin
echo text > text
minisign -S -s k.key -m text < pass > log 2>&1 && minisign -V -q -p k.pub -m text && echo 'minisign signs with it'
(cat pass pass) | minisign -G -p m.pub -s m.key > log 2>&1
oclcc --sign --key m.key s.clbin < pass; echo "exit $?"
oclcc --verify --public-key m.pub s.clbin && echo 'signed'

# What fails before a key is derived.
oclcc --sign --key k.key s.clbin < /dev/null; echo "exit $?"
oclcc --sign --key k.key --passphrase-file /dev/null s.clbin; echo "exit $?"
oclcc --sign --key k.key --passphrase-file missing s.clbin; echo "exit $?"
oclcc --sign --key k.key - -o t.clbin < s.clbin; echo "exit $?"
head -c 2000 /dev/zero | tr '\0' x > long
oclcc --sign --key k.key --passphrase-file long s.clbin; echo "exit $?"
echo > empty
oclcc --keygen e --passphrase-file empty; echo "exit $?"
oclcc --keygen e < /dev/null; echo "exit $?"
ls
# expected output:
#| exit 0
#| 600 k.key
#| exit 3
#| minisign signs with it
#| exit 0
#| signed
#| exit 3
#| exit 3
#| exit 3
#| exit 2
#| exit 3
#| exit 2
#| exit 3
#| before.clbin
#| empty
#| k.key
#| k.pub
#| log
#| long
#| m.key
#| m.pub
#| pass
#| s.clbin
#| text
#| text.minisig
#| wrong
# expected errors:
#| oclcc: error: 'k.key': wrong passphrase for the secret key
#| oclcc: error: standard input does not contain a passphrase: use a terminal or '--passphrase-file'
#| oclcc: error: '/dev/null' does not contain a passphrase
#| oclcc: error: cannot open 'missing': No such file or directory
#| oclcc: error: standard input contains a file and cannot contain a passphrase: use '--passphrase-file'
#| oclcc: error: a passphrase in 'long' has more than 1024 bytes
#| oclcc: error: the passphrase is empty: use '--no-passphrase' for a key without one
#| oclcc: error: standard input does not contain a passphrase: use a terminal or '--passphrase-file'
