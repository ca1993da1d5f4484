#!/bin/bash
# Keys that encrypt.

### keys
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

### key_files
# A file that is not the key that an option requires is an error, which names what the file is, and
# nothing is written.
make_bundle sample s.clbin
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc --keygen c --key-type content
oclcc --keygen r --key-type recipient
oclcc --keygen m --no-passphrase
oclcc --encrypt --encrypt-key c.key --encrypt-for r.pub s.clbin -o e.clbin
mkdir directory
: > empty
truncate -s 100M huge
echo 'not a key' > text
head -c 90 c.key > cut.key
sed -E '2{s/^(.{20})[A-M]/\1Z/;t;s/^(.{20})./\1A/}' c.key > changed.key
mkfifo fifo
find . -type f | sort > ../before
for file in missing.key empty directory huge text cut.key changed.key m.key m.pub r.pub e.clbin; do
  echo "== $file"
  oclcc --info --decrypt-key $file e.clbin; echo "exit $?"
  oclcc --encrypt --encrypt-key $file s.clbin -o never.clbin; echo "exit $?"
  oclcc k.cl --source-only --encrypt-key $file -o never.clbin -MD; echo "exit $?"
done
echo '== other kinds'
oclcc --encrypt --encrypt-key r.key s.clbin -o never.clbin; echo "exit $?"
for file in missing.pub empty c.key r.key m.key m.pub; do
  oclcc --encrypt --encrypt-for $file s.clbin -o never.clbin; echo "exit $?"
done
oclcc --encrypt --encrypt-for "$(tail -n 1 m.pub)" s.clbin -o never.clbin; echo "exit $?"
oclcc --sign --key c.key s.clbin -o never.clbin; echo "exit $?"
oclcc --verify --public-key r.pub s.clbin; echo "exit $?"
find . -type f | sort | diff ../before -

# Other spellings of the same key.
opens() { oclcc --extract --decrypt-key "$1" e.clbin -o out && echo "$1 opens it"; rm -rf out; }
sed 's/$/\r/' c.key > crlf.key
tail -n 1 c.key > line.key
printf '%s' "$(tail -n 1 r.key)" > no_end.key
for file in c.key r.key crlf.key line.key no_end.key; do opens $file; done
cat c.key > fifo & opens fifo
opens <(cat c.key) | sed 's/[0-9]* opens/N opens/'
oclcc --encrypt --encrypt-for "$(tail -n 1 r.pub)" s.clbin -o line.clbin && oclcc --verify --decrypt-key r.key line.clbin; echo "exit $?"

# JSON has the error, too.
for words in '--info' '--verify' '--extract -o out'; do
  # shellcheck disable=SC2086
  oclcc $words --json --decrypt-key missing.key e.clbin > report 2> /dev/null; echo "exit $?"
  mode=${words%% *}
  python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/${mode#--}.schema.json" < report
  grep -c 'missing.key' report
done
for mode in --decrypt --repack --merge --strip; do
  oclcc $mode --json --decrypt-key missing.key e.clbin -o never.clbin > report 2> /dev/null; echo "exit $?"
  [ $mode = --strip ] || python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/change.schema.json" < report
done

# Others can open it.
chmod 644 c.key r.key
oclcc --verify --decrypt-key c.key --decrypt-key r.key e.clbin; echo "exit $?"
oclcc --encrypt --encrypt-key c.key s.clbin -o open.clbin; echo "exit $?"
# expected output:
#| == missing.key
#| exit 3
#| exit 3
#| exit 3
#| == empty
#| exit 3
#| exit 3
#| exit 3
#| == directory
#| exit 3
#| exit 3
#| exit 3
#| == huge
#| exit 3
#| exit 3
#| exit 3
#| == text
#| exit 3
#| exit 3
#| exit 3
#| == cut.key
#| exit 3
#| exit 3
#| exit 3
#| == changed.key
#| exit 3
#| exit 3
#| exit 3
#| == m.key
#| exit 3
#| exit 3
#| exit 3
#| == m.pub
#| exit 3
#| exit 3
#| exit 3
#| == r.pub
#| exit 3
#| exit 3
#| exit 3
#| == e.clbin
#| exit 3
#| exit 3
#| exit 3
#| == other kinds
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 2
#| exit 3
#| exit 3
#| c.key opens it
#| r.key opens it
#| crlf.key opens it
#| line.key opens it
#| no_end.key opens it
#| fifo opens it
#| /dev/fd/N opens it
#| exit 0
#| exit 3
#| fits the schema
#| 1
#| exit 3
#| fits the schema
#| 1
#| exit 3
#| fits the schema
#| 1
#| exit 3
#| fits the schema
#| exit 3
#| fits the schema
#| exit 3
#| fits the schema
#| exit 2
#| exit 0
#| exit 0
# expected errors:
#| oclcc: error: cannot open 'missing.key': No such file or directory
#| oclcc: error: cannot open 'missing.key': No such file or directory
#| oclcc: error: cannot open 'missing.key': No such file or directory
#| oclcc: error: 'empty': not a file of keys: a content key of clbin or the secret key of a recipient is required
#| oclcc: error: 'empty': not a file of keys: a content key of clbin is required
#| oclcc: error: 'empty': not a file of keys: a content key of clbin is required
#| oclcc: error: cannot read 'directory': Is a directory
#| oclcc: error: cannot read 'directory': Is a directory
#| oclcc: error: cannot read 'directory': Is a directory
#| oclcc: error: 'huge': not a file of keys: it has more than 4096 bytes
#| oclcc: error: 'huge': not a file of keys: it has more than 4096 bytes
#| oclcc: error: 'huge': not a file of keys: it has more than 4096 bytes
#| oclcc: error: 'text': not a file of keys: a content key of clbin or the secret key of a recipient is required
#| oclcc: error: 'text': not a file of keys: a content key of clbin is required
#| oclcc: error: 'text': not a file of keys: a content key of clbin is required
#| oclcc: error: 'cut.key': not a file of keys: a content key of clbin or the secret key of a recipient is required
#| oclcc: error: 'cut.key': not a file of keys: a content key of clbin is required
#| oclcc: error: 'cut.key': not a file of keys: a content key of clbin is required
#| oclcc: error: 'changed.key': a content key of clbin that was changed: its check does not match
#| oclcc: error: 'changed.key': a content key of clbin that was changed: its check does not match
#| oclcc: error: 'changed.key': a content key of clbin that was changed: its check does not match
#| oclcc: error: 'm.key': a secret key of minisign: a content key of clbin or the secret key of a recipient is required
#| oclcc: error: 'm.key': a secret key of minisign: a content key of clbin is required
#| oclcc: error: 'm.key': a secret key of minisign: a content key of clbin is required
#| oclcc: error: 'm.pub': a public key of minisign: a content key of clbin or the secret key of a recipient is required
#| oclcc: error: 'm.pub': a public key of minisign: a content key of clbin is required
#| oclcc: error: 'm.pub': a public key of minisign: a content key of clbin is required
#| oclcc: error: 'r.pub': the public key of a recipient: a content key of clbin or the secret key of a recipient is required
#| oclcc: error: 'r.pub': the public key of a recipient: a content key of clbin is required
#| oclcc: error: 'r.pub': the public key of a recipient: a content key of clbin is required
#| oclcc: error: 'e.clbin': not a file of keys: it has more than 4096 bytes
#| oclcc: error: 'e.clbin': not a file of keys: it has more than 4096 bytes
#| oclcc: error: 'e.clbin': not a file of keys: it has more than 4096 bytes
#| oclcc: error: 'r.key': the secret key of a recipient: a content key of clbin is required
#| oclcc: error: cannot open 'missing.pub': No such file or directory
#| oclcc: error: 'empty': not a file of keys: the public key of a recipient is required
#| oclcc: error: 'c.key': a content key of clbin: the public key of a recipient is required
#| oclcc: error: 'r.key': the secret key of a recipient: the public key of a recipient is required
#| oclcc: error: 'm.key': a secret key of minisign: the public key of a recipient is required
#| oclcc: error: 'm.pub': a public key of minisign: the public key of a recipient is required
#| oclcc: error: --encrypt-for: a public key of minisign: the public key of a recipient is required
#| oclcc: error: 'c.key': not a secret key of minisign: it is a content key of clbin
#| oclcc: error: 'r.pub': not a public key of minisign: it is the public key of a recipient
#| oclcc: warning: 'crlf.key' is secret, but its mode 644 lets others open it: chmod 600
#| oclcc: warning: 'line.key' is secret, but its mode 644 lets others open it: chmod 600
#| oclcc: warning: 'no_end.key' is secret, but its mode 644 lets others open it: chmod 600
#| oclcc: warning: 'c.key' is secret, but its mode 644 lets others open it: chmod 600
#| oclcc: warning: 'r.key' is secret, but its mode 644 lets others open it: chmod 600
#| oclcc: warning: 'c.key' is secret, but its mode 644 lets others open it: chmod 600
