#!/bin/bash
make_bundle unit 0 a.clbin
make_bundle unit 1 b.clbin
make_bundle other-source c.clbin
schema=$ROOT/oclcc/schema/change.schema.json
oclcc --merge a.clbin - -o m.clbin --json < b.clbin | tee merge.json; python3 "$CLI_TESTS/check_schema.py" "$schema" < merge.json
oclcc --merge a.clbin c.clbin -o n.clbin --json > conflict.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$schema" < conflict.json
grep message conflict.json
make_bundle sample s.clbin
oclcc --strip --json --strip-source --keep-target sm_70 s.clbin -o t.clbin | tee strip.json
python3 "$CLI_TESTS/check_schema.py" "$schema" < strip.json
oclcc --repack --json s.clbin t.clbin missing.clbin > repack.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$schema" < repack.json
# expected output:
#| {
#|   "bundles": [
#|     {
#|       "dropped_entries": 0,
#|       "hidden_dependents": 0,
#|       "hidden_payloads": 0,
#|       "hidden_stored_bytes": 0,
#|       "inputs": [
#|         "a.clbin",
#|         "<stdin>"
#|       ],
#|       "nothing_left_of": [],
#|       "output": "m.clbin",
#|       "removed_signatures": 0,
#|       "total_bytes": 2448
#|     }
#|   ],
#|   "errors": [],
#|   "version": 1
#| }
#| fits the schema
#| exit 2
#| fits the schema
#|       "message": "'c.clbin': program 'matmul' has different source in 'a.clbin'"
#| {
#|   "bundles": [
#|     {
#|       "dropped_entries": 5,
#|       "hidden_dependents": 1,
#|       "hidden_payloads": 1,
#|       "hidden_stored_bytes": 203,
#|       "inputs": [
#|         "s.clbin"
#|       ],
#|       "nothing_left_of": [
#|         "program 'reduce'"
#|       ],
#|       "output": "t.clbin",
#|       "removed_signatures": 0,
#|       "total_bytes": 1736
#|     }
#|   ],
#|   "errors": [],
#|   "version": 1
#| }
#| fits the schema
#| exit 3
#| fits the schema
# expected errors:
#| oclcc: error: 'c.clbin': program 'matmul' has different source in 'a.clbin'
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
