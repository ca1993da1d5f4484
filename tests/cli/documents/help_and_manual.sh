#!/bin/bash
# --help, the manual page and exit_code.hpp list the same options and statuses.
oclcc --help=all > help.txt
python3 "$CLI_TESTS/documents/compare_help_and_manual.py" help.txt "$ROOT/man/oclcc.1" \
  "$ROOT/oclcc/terminal/exit_code.hpp"
# expected output:
#| the same
