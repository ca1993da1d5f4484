#!/bin/bash
# --keygen --key-type writes content keys and recipients' keys, and never replaces a file.
umask 022
oclcc --keygen c --key-type content; echo "exit $?"
oclcc --keygen r --key-type recipient; echo "exit $?"
oclcc --keygen s --key-type signing --no-passphrase; echo "exit $?"
stat -c '%a %s %n' c.key r.key r.pub s.key s.pub
head -n 1 c.key r.key r.pub | sed 's/[0-9A-F]\{16\}/ID/'
python3 - <<'END_OF_PYTHON'
import base64
import hashlib

for name, letters in ("c.key", b"CK"), ("r.key", b"XS"), ("r.pub", b"XP"):
    line = base64.b64decode(open(name).read().splitlines()[1], validate=True)
    assert len(line) == 42 and line[:2] == letters, name
    assert line[34:] == hashlib.blake2b(line[:34], digest_size=32).digest()[:8], name
print("as oclcc(1) says")
END_OF_PYTHON
oclcc --keygen d --key-type content
cmp -s c.key d.key || echo 'another key'
rm d.key
sha256sum -- *.key *.pub > sums
oclcc --keygen c --key-type content; echo "exit $?"
oclcc --keygen r --key-type recipient; echo "exit $?"
ln -s nowhere d.key
oclcc --keygen d --key-type content; echo "exit $?"
rm d.key; touch d.pub
oclcc --keygen d --key-type recipient; echo "exit $?"
oclcc --keygen no/such/folder --key-type content; echo "exit $?"
(ulimit -f 0; oclcc --keygen o --key-type content); echo "exit $?"
(ulimit -f 0; oclcc --keygen o --key-type recipient); echo "exit $?"
oclcc --keygen p --key-type content > /dev/full; echo "exit $?" # prints nothing
oclcc --keygen q --key-type other; echo "exit $?"
oclcc --keygen q --key-type content --passphrase-file c.key; echo "exit $?"
sha256sum --quiet -c sums
rm p.key; ls
