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
print("as oclcc-signing(7) says")
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
# expected output:
#| exit 0
#| exit 0
#| exit 0
#| 600 111 c.key
#| 600 120 r.key
#| 644 120 r.pub
#| 600 262 s.key
#| 644 113 s.pub
#| ==> c.key <==
#| untrusted comment: clbin content key ID
#|
#| ==> r.key <==
#| untrusted comment: clbin recipient secret key ID
#|
#| ==> r.pub <==
#| untrusted comment: clbin recipient public key ID
#| as oclcc-signing(7) says
#| another key
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 0
#| exit 2
#| exit 2
#| c.key
#| d.pub
#| r.key
#| r.pub
#| s.key
#| s.pub
#| sums
# expected errors:
#| oclcc: error: cannot write 'c.key': File exists
#| oclcc: error: cannot write 'r.key': File exists
#| oclcc: error: cannot write 'd.key': File exists
#| oclcc: error: cannot write 'd.pub': File exists
#| oclcc: error: cannot write 'no/such/folder.key': No such file or directory
#| oclcc: error: cannot write 'o.key': File too large
#| oclcc: error: cannot write 'o.key': File too large
#| oclcc: error: '--key-type' accepts signing, content or recipient, not 'other'
#| oclcc: error: '--key-type content' and '--passphrase-file' cannot be used together
