#!/bin/bash
# After "--" everything is an input.
oclcc -- --help
# expected exit status: 3
# expected errors:
#| oclcc: error: cannot open '--help': No such file or directory
