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
