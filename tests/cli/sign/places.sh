#!/bin/bash
# Where signed bundles are written, and what an error leaves.
make_bundle sample s.clbin
cp s.clbin t.clbin
cp s.clbin u.clbin
oclcc --keygen k --no-passphrase
head -c 300 s.clbin > cut.clbin
chmod 640 s.clbin
ln -s s.clbin link.clbin
oclcc --sign --key k.key link.clbin cut.clbin t.clbin missing.clbin; echo "exit $?"
[ -L link.clbin ] && stat -c %a s.clbin
oclcc --verify --public-key k.pub s.clbin t.clbin; echo "exit $?"
oclcc --sign --key k.key - -o - < u.clbin | cmp - t.clbin && echo 'piped'
oclcc --sign --key k.key - < u.clbin; echo "exit $?"
oclcc --sign --key k.key s.clbin t.clbin -o v.clbin; echo "exit $?"
oclcc --sign --key missing.key u.clbin; echo "exit $?"
oclcc --sign --key k.pub u.clbin; echo "exit $?"
oclcc --sign --key s.clbin u.clbin; echo "exit $?"
oclcc --sign --key k.key --json u.clbin | python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/change.schema.json"
cmp u.clbin t.clbin && echo 'the same with --json'

# A large file that is no bundle is not read. A pipe is read, but cannot be replaced.
truncate -s 40G large.clbin
timeout 60 oclcc --sign --key k.key large.clbin; echo "exit $?"
oclcc --sign --key k.key <(cat s.clbin) -o w.clbin && cmp w.clbin t.clbin && echo 'from a pipe'
mkfifo fifo
timeout 60 oclcc --sign --key k.key fifo; echo "exit $?"
timeout 60 oclcc --sign --key k.key /dev/zero; echo "exit $?"
rm large.clbin w.clbin fifo

# A damaged bundle is not signed.
cp s.clbin flipped.clbin
printf '\377' | dd of=flipped.clbin bs=1 seek=3000 conv=notrunc status=none
oclcc --sign --key k.key flipped.clbin; echo "exit $?"

# At most 16 records.
for i in {1..16}; do
  oclcc --keygen "n$i" --no-passphrase
  oclcc --sign --key "n$i.key" u.clbin || { echo "exit $?"; break; }
done
echo "not signed with key $i"
oclcc --sign --key n3.key u.clbin; echo "exit $?"

# A full disk leaves the old bundle.
cp t.clbin before.clbin
oclcc --strip-signature t.clbin -o unsigned.clbin
cp unsigned.clbin full.clbin
(ulimit -f 1; oclcc --sign --key k.key full.clbin); echo "exit $?"
cmp full.clbin unsigned.clbin
oclcc --sign --key k.key t.clbin -o /dev/full; echo "exit $?"
cmp t.clbin before.clbin
rm n*.key n*.pub
ls -A
# expected output:
#| exit 4
#| 640
#| exit 0
#| piped
#| exit 2
#| exit 2
#| exit 3
#| exit 3
#| exit 3
#| fits the schema
#| the same with --json
#| exit 4
#| from a pipe
#| exit 2
#| exit 3
#| exit 4
#| exit 4
#| not signed with key 16
#| exit 0
#| exit 3
#| exit 3
#| before.clbin
#| cut.clbin
#| flipped.clbin
#| full.clbin
#| k.key
#| k.pub
#| link.clbin
#| s.clbin
#| t.clbin
#| u.clbin
#| unsigned.clbin
# expected errors:
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 300 bytes are present
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: '--sign' cannot replace standard input: name an output with '-o'
#| oclcc: error: '-o' accepts the output of '--sign' for one bundle, but 2 are given
#| oclcc: error: cannot open 'missing.key': No such file or directory
#| oclcc: error: 'k.pub': not a secret key of minisign: it is a public key of minisign
#| oclcc: error: 's.clbin': not a secret key of minisign: it does not have a comment and a line of base64
#| oclcc: error: large.clbin: not a bundle: it starts with 00 00 00 00 00 00 00 00
#| oclcc: error: '--sign' cannot replace 'fifo', which is a pipe: name an output with '-o'
#| oclcc: error: cannot read '/dev/zero': not a regular file
#| oclcc: error: flipped.clbin: blob 2: stored_digest does not match: it was changed
#| oclcc: error: u.clbin: a bundle has at most 16 trailing records, and this one would have 17
#| oclcc: error: cannot write 'full.clbin': File too large
#| oclcc: error: cannot write '/dev/full': No space left on device
