#!/bin/bash
# Prints the entries from the tables, then the error in the manifest.
for value in '"2048"' -1 1e300 '2048,"local_bytes":2048' 18446744073709551616 null; do
  make_bundle manifest '"local_bytes":2048' "\"local_bytes\":$value" m.clbin
  oclcc --info m.clbin > out; echo "exit $?, $(grep -c '^  entry' out) entries"
done
make_bundle manifest '{' '[' m.clbin
oclcc --info m.clbin > out; echo "exit $?, $(grep -c '^  entry' out) entries"
