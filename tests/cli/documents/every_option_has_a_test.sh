#!/bin/bash
# Each option that --help shows has a test in this folder.
oclcc --help=all > help.txt
python3 -B "$CLI_TESTS/documents/find_untested_options.py" help.txt "$CLI_TESTS"
# expected output:
#| 0 options without a test
