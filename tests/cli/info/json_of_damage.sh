#!/bin/bash
# For a damaged or missing bundle, the document still fits the schema.
make_bundle sample s.clbin
head -c 2000 s.clbin > cut.clbin
oclcc --info --json cut.clbin none.clbin > out; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json" < out
# expected output:
#| exit 4
#| fits the schema
# expected errors:
#| oclcc: error: cut.clbin: prefix: total_bytes is *, but only * bytes are present
#| oclcc: error: 'cut.clbin': page *
#| oclcc: error: cannot open 'none.clbin': No such file or directory
