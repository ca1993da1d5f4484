#!/bin/bash
# The completions of zsh and fish are those that from_help.py generates from --help.
oclcc --help=all > help.txt
for shell in zsh:_oclcc fish:oclcc.fish; do
  python3 "$ROOT/oclcc/completion/from_help.py" "${shell%:*}" < help.txt |
    diff - "$ROOT/oclcc/completion/${shell#*:}" && echo "${shell%:*}: as made"
done
# expected output:
#| zsh: as made
#| fish: as made
