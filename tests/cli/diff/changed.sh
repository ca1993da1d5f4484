#!/bin/bash
make_bundle sample a.clbin
make_bundle changed b.clbin
oclcc --diff a.clbin b.clbin; echo "exit $?"
oclcc --diff --json a.clbin b.clbin > d.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/diff.schema.json" < d.json
