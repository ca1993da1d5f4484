#!/bin/bash
make_bundle sample s.clbin
echo no > text
oclcc --verify; echo "exit $?"
oclcc --verify missing.clbin text s.clbin; echo "exit $?"
head -c 3000 s.clbin > cut.clbin
mkdir folder
oclcc --verify cut.clbin folder; echo "exit $?"
oclcc --verify s.clbin s.clbin; echo "exit $?" # the same bundle twice is accepted
oclcc --verify --json text s.clbin > v.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/verify.schema.json" < v.json
oclcc --info --run s.clbin; echo "exit $?"
oclcc --verify s.clbin -o b.clbin; echo "exit $?"
