#!/bin/bash
# Lists every target, and marks those whose tools are missing.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
oclcc=$(command -v oclcc)
PATH=/nonexistent "$oclcc" --list-targets
schema=$ROOT/oclcc/schema/list-targets.schema.json
oclcc --list-targets --json | python3 "$CLI_TESTS/check_schema.py" "$schema"
PATH=/nonexistent "$oclcc" --list-targets --json > json
python3 "$CLI_TESTS/check_schema.py" "$schema" < json
oclcc --list-targets k.cl; echo "exit $?"
