#!/bin/bash
# What --help, the manual page and exit_code.hpp say is the same.
oclcc --help=all > help.txt
python3 "$CLI_TESTS/documents/compare_help_and_manual.py" help.txt "$ROOT/man/oclcc.1" \
  "$ROOT/oclcc/terminal/exit_code.hpp"
