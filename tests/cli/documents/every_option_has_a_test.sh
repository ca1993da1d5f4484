#!/bin/bash
# Every option that --help shows is used by a test of this folder.
oclcc --help=all > help.txt
python3 -B "$CLI_TESTS/documents/find_untested_options.py" help.txt "$CLI_TESTS"
