#!/bin/bash
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
