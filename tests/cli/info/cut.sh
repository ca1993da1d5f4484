#!/bin/bash
# Prints everything before the cut, then the error. Exits with 4 at every length.
make_bundle sample s.clbin
size=$(stat -c %s s.clbin)
head -c $((size - 1)) s.clbin > cut.clbin
oclcc --info cut.clbin > out; echo "exit $?, $(grep -c '^  entry' out) entries"
for ((n = 0; n < size; n += 97)); do
  head -c $n s.clbin > cut.clbin
  oclcc --info cut.clbin > /dev/null 2> err || [ $? -eq 4 ] || echo "at $n: another status"
  grep -q '^oclcc: error: cut.clbin: ' err || echo "at $n: $(cat err)"
done
# expected output:
#| exit 4, 7 entries
# expected errors:
#| oclcc: error: cut.clbin: prefix: total_bytes is *, but only * bytes are present
