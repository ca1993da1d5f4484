#!/bin/bash
# Prints the entries from the tables, then the error in the manifest.
for value in '"2048"' -1 1e300 '2048,"local_bytes":2048' 18446744073709551616 null; do
  make_bundle manifest '"local_bytes":2048' "\"local_bytes\":$value" m.clbin
  oclcc --info m.clbin > out; echo "exit $?, $(grep -c '^  entry' out) entries"
done
make_bundle manifest '{' '[' m.clbin
oclcc --info m.clbin > out; echo "exit $?, $(grep -c '^  entry' out) entries"
# expected output:
#| exit 4, 7 entries
#| exit 4, 7 entries
#| exit 4, 7 entries
#| exit 4, 7 entries
#| exit 4, 7 entries
#| exit 4, 7 entries
#| exit 4, 7 entries
# expected errors:
#| oclcc: error: m.clbin: manifest of program 'reduce': entries[0].kernels[0].local_bytes: expected an unsigned integer, found a string
#| oclcc: error: m.clbin: manifest of program 'reduce': entries[0].kernels[0].local_bytes: expected an unsigned integer, found -1
#| oclcc: error: m.clbin: manifest of program 'reduce': entries[0].kernels[0].local_bytes: expected an unsigned integer, found 1e300
#| oclcc: error: m.clbin: manifest of program 'reduce': entries[0].kernels[0]: duplicate key 'local_bytes'
#| oclcc: error: m.clbin: manifest of program 'reduce': entries[0].kernels[0].local_bytes: expected an unsigned integer, found 18446744073709551616
#| oclcc: error: m.clbin: manifest of program 'reduce': entries[0].kernels[0].local_bytes: expected an unsigned integer, found null
#| oclcc: error: m.clbin: manifest of program 'reduce': [1]: not valid JSON at byte 11
