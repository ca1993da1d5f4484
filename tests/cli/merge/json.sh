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
