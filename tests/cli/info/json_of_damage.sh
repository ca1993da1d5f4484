#!/bin/bash
# For a damaged or missing bundle, the document still fits the schema.
make_bundle sample s.clbin
head -c 2000 s.clbin > cut.clbin
oclcc --info --json cut.clbin none.clbin > out; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json" < out
