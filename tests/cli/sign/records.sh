#!/bin/bash
# Signatures are records behind the bundle: they depend on the bundle and the key only.
make_bundle sample s.clbin
cp s.clbin unsigned.clbin
for name in a b old; do oclcc --keygen $name --no-passphrase; done
oclcc --sign --key a.key s.clbin; echo "exit $?"
cmp -n 24 s.clbin unsigned.clbin
echo "$(($(stat -c %s s.clbin) - $(stat -c %s unsigned.clbin))) bytes more"
cp s.clbin once.clbin
oclcc --sign --key a.key s.clbin && cmp s.clbin once.clbin && echo 'the same bytes'
oclcc --sign --key b.key once.clbin -o both.clbin; echo "exit $?"
oclcc --sign --key b.key unsigned.clbin -o b.clbin && oclcc --sign --key a.key b.clbin
cmp b.clbin both.clbin && echo 'in any order'
oclcc --verify --public-key a.pub both.clbin && oclcc --verify --public-key b.pub both.clbin && echo 'both hold'

# A counter remains until another one replaces it.
oclcc --sign --key a.key --counter 7 s.clbin; echo "exit $?"
oclcc --sign --key a.key s.clbin && oclcc --verify --public-key a.pub --least-counter 7 s.clbin && echo 'at least 7'
oclcc --sign --key a.key --counter 6 s.clbin
oclcc --verify --public-key a.pub --least-counter 7 s.clbin; echo "exit $?"
oclcc --verify --public-key a.pub --least-counter 6 s.clbin; echo "exit $?"

# Who trusts the old key trusts the new one.
oclcc --verify --public-key old.pub s.clbin; echo "exit $?"
oclcc --sign --key a.key --vouched-by old.key s.clbin; echo "exit $?"
oclcc --verify --public-key old.pub s.clbin; echo "exit $?"
oclcc --sign --key a.key --vouched-by a.key s.clbin; echo "exit $?"

# Everything that was signed is unchanged.
oclcc --strip-signature s.clbin both.clbin; echo "exit $?"
cmp s.clbin unsigned.clbin && cmp both.clbin unsigned.clbin && echo 'unsigned again'
oclcc --strip-signature s.clbin && cmp s.clbin unsigned.clbin && echo 'nothing to remove'
ls ./*.clbin
# expected output:
#| exit 0
#| 112 bytes more
#| the same bytes
#| exit 0
#| in any order
#| both hold
#| exit 0
#| at least 7
#| exit 4
#| exit 0
#| exit 4
#| exit 0
#| exit 0
#| exit 2
#| exit 0
#| unsigned again
#| nothing to remove
#| ./b.clbin
#| ./both.clbin
#| ./once.clbin
#| ./s.clbin
#| ./unsigned.clbin
# expected errors:
#| oclcc: note: s.clbin: a lower counter replaced 7
#| oclcc: error: s.clbin: the counter is 6, and 7 is the least one accepted
#| oclcc: error: s.clbin: the bundle is signed by no trusted key, but by *
#| oclcc: error: '--vouched-by a.key' is the key that signs
