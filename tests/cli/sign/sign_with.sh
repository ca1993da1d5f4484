#!/bin/bash
# oclcc checks what a command answers, and writes nothing if it is not the signature.
make_bundle sample s.clbin
make_bundle changed other.clbin
for name in k other; do oclcc --keygen $name --no-passphrase; done
oclcc --sign --key k.key s.clbin -o signed.clbin
oclcc --sign --key k.key other.clbin -o other_signed.clbin
tail -c 64 signed.clbin > raw
tail -c 64 other_signed.clbin > of_another_bundle
oclcc --sign --key other.key s.clbin -o t.clbin && tail -c 64 t.clbin > by_another_key
cp s.clbin before.clbin
sign() { oclcc --sign --sign-with "$1" --public-key k.pub s.clbin; echo "exit $?"; }
for command in 'cat raw' 'base64 -w0 raw' 'cat raw; echo noise >&2' 'base64 raw | tr -d "\n"; echo'; do
  sign "$command"
  cmp s.clbin signed.clbin || echo "$command: other bytes"
  cp before.clbin s.clbin
done

for command in 'exit 7' 'kill -9 $$' 'no-such-command-secret 2> /dev/null' true 'echo garbage' 'yes' 'head -c 63 raw' \
    '(cat raw; echo)' 'cat of_another_bundle' 'cat by_another_key' 'head -c 64 /dev/zero' 'cat k.pub' \
    'cat > b; minisign -S -s k.key -m b > /dev/null; cat b.minisig'; do
  sign "$command"
done
oclcc --sign --sign-with 'cat raw' --public-key other.pub s.clbin; echo "exit $?"
oclcc --sign --sign-with 'cat raw' --public-key missing.pub s.clbin; echo "exit $?"
oclcc --sign --sign-with 'cat raw' --public-key k.key s.clbin; echo "exit $?"
oclcc --sign --sign-with 'cat raw' --public-key k.pub --counter 3 s.clbin 2>&1 | sed 's/key [0-9a-f]*/key/'
cmp s.clbin before.clbin && echo 'the bundle is unchanged'
ls -A "$TMPDIR"
# expected output:
#| exit 0
#| exit 0
#| exit 0
#| exit 0
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| oclcc: error: s.clbin: the command of '--sign-with' wrote bytes that are not a signature of the message by key
#| the bundle is unchanged
# expected errors:
#| noise
#| oclcc: error: s.clbin: the command of '--sign-with' failed with exit status 7
#| oclcc: error: s.clbin: the command of '--sign-with' was ended by signal 9
#| oclcc: error: s.clbin: the command of '--sign-with' failed with exit status 127
#| oclcc: error: s.clbin: the command of '--sign-with' wrote 0 bytes, which are not a signature: 64 bytes, 88 base64 digits, or a signature file of minisign
#| oclcc: error: s.clbin: the command of '--sign-with' wrote 8 bytes, which are not a signature: 64 bytes, 88 base64 digits, or a signature file of minisign
#| oclcc: error: s.clbin: the command of '--sign-with' wrote more than 16384 bytes
#| oclcc: error: s.clbin: the command of '--sign-with' wrote 63 bytes, which are not a signature: 64 bytes, 88 base64 digits, or a signature file of minisign
#| oclcc: error: s.clbin: the command of '--sign-with' wrote 65 bytes, which are not a signature: 64 bytes, 88 base64 digits, or a signature file of minisign
#| oclcc: error: s.clbin: the command of '--sign-with' wrote bytes that are not a signature of the message by key *
#| oclcc: error: s.clbin: the command of '--sign-with' wrote bytes that are not a signature of the message by key *
#| oclcc: error: s.clbin: the command of '--sign-with' wrote bytes that are not a signature of the message by key *
#| oclcc: error: s.clbin: the command of '--sign-with' wrote 113 bytes, which are not a signature: 64 bytes, 88 base64 digits, or a signature file of minisign
#| oclcc: error: s.clbin: the command of '--sign-with' signed a digest of the bytes: use 'minisign -S -l', which signs the bytes
#| oclcc: error: s.clbin: the command of '--sign-with' wrote bytes that are not a signature of the message by key *
#| oclcc: error: cannot open 'missing.pub': No such file or directory
#| oclcc: error: 'k.key': not a public key of minisign: it is a secret key of minisign
