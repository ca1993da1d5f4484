#!/bin/bash
# Untrusted names in a bundle cannot lead to another folder, control the terminal, or collide.
make_bundle hostile s.clbin
mkdir -p deep/er/out
oclcc -v --extract s.clbin -o deep/er/out; echo "exit $?"
find . -type f | LC_ALL=C sort
find . -type f | tr "A-Z" "a-z" | sort | uniq -d
