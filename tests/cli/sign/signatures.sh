#!/bin/bash
# Signatures, and what a verifier requires of them.

### detached
# A signature file beside the finished bundle, which minisign checks, and the other way round.
make_bundle sample s.clbin
cp s.clbin t.clbin
minisign -G -W -p m.pub -s m.key > log
oclcc --keygen k --no-passphrase
SOURCE_DATE_EPOCH=1234567890 oclcc --sign --detached --key k.key s.clbin t.clbin; echo "exit $?"
minisign -V -p k.pub -m s.clbin; echo "exit $?"
SOURCE_DATE_EPOCH=1234567890 oclcc --sign --detached --key k.key s.clbin -o again && cmp again s.clbin.minisig && echo 'the same bytes'
cmp s.clbin t.clbin && echo 'the bundle is unchanged'
stat -c '%a %n' s.clbin.minisig
oclcc --verify --detached --public-key k.pub s.clbin t.clbin; echo "exit $?"
oclcc --verify --detached --public-key m.pub --public-key k.pub s.clbin; echo "exit $?"
oclcc --verify --detached --public-key m.pub s.clbin; echo "exit $?"
minisign -S -s m.key -m s.clbin > log
oclcc --verify --detached --public-key m.pub s.clbin; echo "exit $?"
minisign -S -l -s m.key -m t.clbin > log
oclcc --verify --detached --public-key m.pub t.clbin; echo "exit $?"
sed -i 's/timestamp:1/timestamp:2/' t.clbin.minisig
oclcc --verify --detached --public-key m.pub t.clbin; echo "exit $?"
oclcc --sign --key k.key s.clbin # other bytes
oclcc --verify --detached --public-key m.pub s.clbin; echo "exit $?"
echo text > s.clbin.minisig
oclcc --verify --detached --public-key m.pub s.clbin; echo "exit $?"
rm s.clbin.minisig
oclcc --verify --detached --public-key m.pub s.clbin; echo "exit $?"

# A command signs the digest, and then the comment.
export SOURCE_DATE_EPOCH=1
oclcc --sign --detached --key m.key s.clbin -o by_key
oclcc --sign --detached --sign-with 'cat > b; minisign -S -l -s m.key -m b > log; cat b.minisig' --public-key m.pub s.clbin; echo "exit $?"
cmp by_key s.clbin.minisig && echo 'the same file'
hex=$(tail -n 1 m.pub | base64 -d | tail -c 32 | od -An -tx1 | tr -d ' \n')
oclcc --sign --detached --sign-with 'cat b' --public-key "$hex" s.clbin; echo "exit $?"
oclcc --verify --detached --public-key "$hex" s.clbin; echo "exit $?"

# A document about a bundle is signed as it is; a damaged bundle is none.
oclcc --provenance s.clbin -o s.json
oclcc --sign --detached --key k.key s.json && minisign -V -q -p k.pub -m s.json; echo "exit $?"
oclcc --verify --detached --public-key k.pub s.json s.json; echo "exit $?"
sed -i 's/urn:oclcc/urn:other/' s.json
oclcc --verify --detached --public-key k.pub s.json; echo "exit $?"
oclcc --sign --key k.key s.json; echo "exit $?"
oclcc --verify --public-key k.pub s.json; echo "exit $?"
echo text > text
oclcc --sign --detached --key k.key text; echo "exit $?"
oclcc --sign --detached --key k.key - -o out < t.clbin && [ -s out ] && echo 'standard input, too'
# expected output:
#| exit 0
#| Signature and comment signature verified
#| Trusted comment: timestamp:1234567890	file:s.clbin	hashed
#| exit 0
#| the same bytes
#| the bundle is unchanged
#| 644 s.clbin.minisig
#| exit 0
#| exit 0
#| exit 4
#| exit 0
#| exit 0
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 0
#| the same file
#| exit 2
#| exit 0
#| exit 0
#| exit 0
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| standard input, too
# expected errors:
#| oclcc: error: s.clbin: 's.clbin.minisig': no key of '--public-key' made it: it is by key *
#| oclcc: error: t.clbin: 't.clbin.minisig': the signature by key * of the trusted comment does not hold
#| oclcc: error: s.clbin: 's.clbin.minisig': the signature by key * does not hold
#| oclcc: error: s.clbin: 's.clbin.minisig': not a signature of minisign: its four lines are not two comments and signatures
#| oclcc: error: s.clbin: cannot open 's.clbin.minisig': No such file or directory
#| oclcc: error: s.clbin: '--detached' needs the id of the key: use a public key of minisign instead of hexadecimal digits
#| oclcc: error: s.json: 's.json.minisig': the signature by key * does not hold
#| oclcc: error: s.json: not a bundle: it starts with 7b 0a *
#| oclcc: error: s.json: not a bundle: it starts with 7b 0a *
#| oclcc: error: text: not a bundle: it starts with 74 65 78 74 0a

### records
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

### verify
# --verify with keys requires a signature. Without keys, it reports signatures that do not hold.
make_bundle sample s.clbin
cp s.clbin unsigned.clbin
for name in a b; do oclcc --keygen $name --no-passphrase; done
oclcc --sign --key a.key --counter 5 s.clbin
verify() { oclcc --verify "$@"; echo "exit $?"; }
verify s.clbin unsigned.clbin
verify --public-key a.pub s.clbin
verify --public-key b.pub --public-key a.pub s.clbin
verify --public-key "$(tail -n 1 a.pub)" --least-counter 5 - < s.clbin
verify --public-key a.pub unsigned.clbin s.clbin
verify --public-key b.pub s.clbin
verify --public-key a.pub --least-counter 6 s.clbin
oclcc --verify --public-key b.pub --json s.clbin > report; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/verify.schema.json" < report
oclcc --verify --public-key missing.pub --json s.clbin unsigned.clbin > report; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/verify.schema.json" < report && cat report
verify --public-key missing.pub s.clbin
verify --public-key RWnonsense s.clbin

# A flipped bit of the signature, of the counter, and of the bundle.
size=$(stat -c %s s.clbin)
for place in $((size - 1)) $((size - 121)) 3000; do
  python3 - "$place" <<'END_OF_PYTHON'
import sys

data = bytearray(open("s.clbin", "rb").read())
data[int(sys.argv[1])] ^= 1
open("flipped.clbin", "wb").write(data)
END_OF_PYTHON
  verify --public-key a.pub flipped.clbin
  verify flipped.clbin
done
python3 - <<'END_OF_PYTHON'
data = bytearray(open("s.clbin", "rb").read())
data[-1] ^= 1
open("flipped.clbin", "wb").write(data)
END_OF_PYTHON
oclcc --sign --key b.key flipped.clbin; echo "exit $?"
oclcc --sign --key a.key flipped.clbin; echo "exit $?"
oclcc --sign --key a.key --counter 5 flipped.clbin && cmp flipped.clbin s.clbin && echo 'signed again'
# expected output:
#| exit 0
#| exit 0
#| exit 0
#| exit 0
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| fits the schema
#| exit 3
#| fits the schema
#| {
#|   "bundles": [
#|     {
#|       "contents_checked": false,
#|       "entries": 0,
#|       "entries_not_run": 0,
#|       "errors": [
#|         {
#|           "code": 20,
#|           "message": "cannot open 'missing.pub': No such file or directory"
#|         }
#|       ],
#|       "file": "s.clbin",
#|       "runs": []
#|     },
#|     {
#|       "contents_checked": false,
#|       "entries": 0,
#|       "entries_not_run": 0,
#|       "errors": [
#|         {
#|           "code": 20,
#|           "message": "cannot open 'missing.pub': No such file or directory"
#|         }
#|       ],
#|       "file": "unsigned.clbin",
#|       "runs": []
#|     }
#|   ],
#|   "version": 1
#| }
#| exit 3
#| exit 3
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| signed again
# expected errors:
#| oclcc: error: unsigned.clbin: a signature is required, and the bundle has none
#| oclcc: error: s.clbin: the bundle is signed by no trusted key, but by *
#| oclcc: error: s.clbin: the counter is 5, and 6 is the least one accepted
#| oclcc: error: s.clbin: the bundle is signed by no trusted key, but by *
#| oclcc: error: cannot open 'missing.pub': No such file or directory
#| oclcc: error: cannot open 'missing.pub': No such file or directory
#| oclcc: error: cannot open 'RWnonsense': No such file or directory
#| oclcc: error: flipped.clbin: the counter by key * does not hold
#| oclcc: error: flipped.clbin: the counter by key * does not hold
#| oclcc: error: flipped.clbin: the signature by key * does not hold
#| oclcc: error: flipped.clbin: the signature by key * does not hold
#| oclcc: error: flipped.clbin: blob 2: stored_digest does not match: it was changed
#| oclcc: error: flipped.clbin: blob 2: stored_digest does not match: it was changed
#| oclcc: error: flipped.clbin: the counter by key * does not hold; '--strip-signature' removes it
#| oclcc: error: flipped.clbin: the counter by key * does not hold; '--strip-signature' removes it

### mistakes
# Options that would have no effect, or show a secret key, are errors.
make_bundle sample s.clbin
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
echo 'correct horse' > pass
oclcc --keygen k --no-passphrase
oclcc --keygen old --passphrase-file pass

# The text of a key instead of the name of its file.
for secret in "$(< k.key)" "$(tail -n 1 k.key)" "$(tail -n 1 old.key)"; do
  for words in '--sign s.clbin --key' '--sign s.clbin --key k.key --vouched-by' 'k.cl --source-only --sign-key' \
      '--verify s.clbin --public-key' '--sign s.clbin --sign-with true --public-key' '--keygen' \
      '--keygen n --passphrase-file'; do
    # shellcheck disable=SC2086
    oclcc $words "$secret" > printed 2>&1; echo "exit $?"
    grep -qF "${secret: -40}" printed && echo 'the secret key is printed'
    cat printed >&2
  done
done

# Given twice.
oclcc --sign --key k.key --key old.key s.clbin; echo "exit $?"
oclcc --keygen one --keygen two --no-passphrase; echo "exit $?"
oclcc --sign --key k.key --counter 2 --counter 3 s.clbin; echo "exit $?"
oclcc --sign --sign-with true --sign-with false --public-key k.pub s.clbin; echo "exit $?"
oclcc --sign --key k.key --vouched-by old.key --vouched-by k.key s.clbin; echo "exit $?"
oclcc --sign --key old.key --passphrase-file pass --passphrase-file s.clbin s.clbin; echo "exit $?"
oclcc --verify --public-key k.pub --least-counter 2 --least-counter 1 s.clbin; echo "exit $?"

# Without effect.
oclcc --sign --key k.key --passphrase-file missing s.clbin; echo "exit $?"
oclcc k.cl --sign-key missing.key -fsyntax-only; echo "exit $?"
oclcc k.cl --sign-with true --public-key k.pub -M; echo "exit $?"
SOURCE_DATE_EPOCH=abc oclcc --sign --detached --key k.key s.clbin; echo "exit $?"

# A lower counter, by the same key only.
for counter in 3 2 2 5; do oclcc --sign --key k.key --counter $counter s.clbin -o c.clbin && mv c.clbin s.clbin; done
oclcc --keygen third --no-passphrase
oclcc --sign --key third.key --counter 1 s.clbin; echo "exit $?"

# Names and passphrases.
mkdir directory
oclcc --keygen directory/ --no-passphrase; echo "exit $?"
oclcc --keygen . --no-passphrase; echo "exit $?"
printf 'correct\0horse\n' > zero
oclcc --keygen n --passphrase-file zero; echo "exit $?"
chmod 640 k.key
chmod 604 old.key
oclcc --sign --key k.key --vouched-by old.key --passphrase-file pass s.clbin -o t.clbin; echo "exit $?"
ls -A . directory
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 0
#| exit 2
#| exit 2
#| exit 3
#| exit 0
#| .:
#| directory
#| k.cl
#| k.key
#| k.pub
#| old.key
#| old.pub
#| pass
#| printed
#| s.clbin
#| t.clbin
#| third.key
#| third.pub
#| zero
#|
#| directory:
# expected errors:
#| oclcc: error: '--key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--vouched-by' requires the name of a file, not the text of a secret key
#| oclcc: error: '--sign-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--public-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--public-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--keygen' requires the name of a file, not the text of a secret key
#| oclcc: error: '--passphrase-file' requires the name of a file, not the text of a secret key
#| oclcc: error: '--key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--vouched-by' requires the name of a file, not the text of a secret key
#| oclcc: error: '--sign-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--public-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--public-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--keygen' requires the name of a file, not the text of a secret key
#| oclcc: error: '--passphrase-file' requires the name of a file, not the text of a secret key
#| oclcc: error: '--key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--vouched-by' requires the name of a file, not the text of a secret key
#| oclcc: error: '--sign-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--public-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--public-key' requires the name of a file, not the text of a secret key
#| oclcc: error: '--keygen' requires the name of a file, not the text of a secret key
#| oclcc: error: '--passphrase-file' requires the name of a file, not the text of a secret key
#| oclcc: error: '--key' is given more than once
#| oclcc: error: '--keygen' is given more than once
#| oclcc: error: '--counter' is given more than once
#| oclcc: error: '--sign-with' is given more than once
#| oclcc: error: '--vouched-by' is given more than once
#| oclcc: error: '--passphrase-file' is given more than once
#| oclcc: error: '--least-counter' is given more than once
#| oclcc: error: '--passphrase-file' is given, but no key has a passphrase
#| oclcc: error: '--sign-key' and '-fsyntax-only' cannot be used together
#| oclcc: error: '--sign-with' and '-M' cannot be used together
#| oclcc: error: s.clbin: SOURCE_DATE_EPOCH is 'abc', which is not a number of seconds
#| oclcc: note: c.clbin: a lower counter replaced 3
#| oclcc: error: '--keygen' requires a name for the files, but 'directory/' is a directory
#| oclcc: error: '--keygen' requires a name for the files, but '.' is a directory
#| oclcc: error: a passphrase in 'zero' contains a NUL byte
#| oclcc: warning: 'k.key' is secret, but its mode 640 lets others open it: chmod 600
#| oclcc: warning: 'old.key' is secret, but its mode 604 lets others open it: chmod 600
