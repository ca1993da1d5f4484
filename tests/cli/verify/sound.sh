#!/bin/bash
# Prints nothing for valid bundles. -v and --json print details.
make_bundle sample s.clbin
oclcc --verify s.clbin; echo "exit $?"
oclcc --verify - < s.clbin; echo "exit $?"
oclcc -v --verify s.clbin
oclcc --verify --json s.clbin > v.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/verify.schema.json" < v.json
# expected output:
#| exit 0
#| exit 0
#| exit 0
#| fits the schema
# expected errors:
#| s.clbin: sound, 7 entries
