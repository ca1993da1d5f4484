#!/bin/bash
make_bundle sample s.clbin
oclcc --extract --json s.clbin missing.clbin -o out > e.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/extract.schema.json" < e.json
grep "\"file\"" e.json
