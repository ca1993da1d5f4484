#!/bin/bash
# Modes that change a bundle remove its signatures, and a note says so.
make_bundle sample s.clbin
oclcc --strip --drop-target cpu s.clbin -o stripped.clbin
oclcc --keygen k --no-passphrase
oclcc --sign --key k.key --counter 2 s.clbin
oclcc --strip --drop-target cpu s.clbin -o b.clbin; echo "exit $?"
cmp b.clbin stripped.clbin && echo 'the same without the signature'
oclcc --repack s.clbin -o b.clbin; echo "exit $?"
oclcc --merge s.clbin stripped.clbin -o b.clbin; echo "exit $?"
oclcc -q --merge s.clbin stripped.clbin -o b.clbin; echo "exit $?"
oclcc --repack --json s.clbin -o b.clbin | tee report | grep -o '"removed_signatures": *[0-9]*'
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/change.schema.json" < report
oclcc --repack b.clbin; echo "exit $?"
cp s.clbin t.clbin
oclcc --strip-signature --json t.clbin | grep -o '"removed_signatures": *[0-9]*'
oclcc --extract s.clbin -o folder && oclcc --diff s.clbin t.clbin && echo 'the same contents'
oclcc s.clbin -o k.o && echo 'embedded with its signature'
python3 -c 'assert open("s.clbin", "rb").read() in open("k.o", "rb").read()'
# expected output:
#| exit 0
#| the same without the signature
#| exit 0
#| exit 0
#| exit 0
#| "removed_signatures": 2
#| fits the schema
#| exit 0
#| "removed_signatures": 2
#| the same contents
#| embedded with its signature
# expected errors:
#| oclcc: note: b.clbin: the signatures of the input were removed, because the contents changed: sign it again
#| oclcc: note: b.clbin: the signatures of the input were removed, because the contents changed: sign it again
#| oclcc: note: b.clbin: the signatures of the input were removed, because the contents changed: sign it again
