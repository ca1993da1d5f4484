#!/bin/bash
# Tests of --verify.

### every_byte
# Finds every flipped bit and every cut. The message names the file.
make_bundle unit 0 s.clbin
size=$(stat -c %s s.clbin)
for ((at = 0; at < size; at += 97)); do
  cp s.clbin d.clbin
  byte=$(od -An -tu1 -j "$at" -N 1 s.clbin)
  printf "\\\\x$(printf %x $((byte ^ 1)))" | dd of=d.clbin bs=1 seek="$at" conv=notrunc status=none
  oclcc --verify d.clbin 2> message
  status=$?
  grep -q "^oclcc: error: d.clbin: " message || { echo "at $at:"; cat message; }
  [ $status = 4 ] || echo "at $at: exit $status"
  head -c "$at" s.clbin > d.clbin
  oclcc --verify d.clbin 2> message
  status=$?
  grep -q "^oclcc: error: d.clbin: " message || { echo "cut at $at:"; cat message; }
  [ $status = 4 ] || echo "cut at $at: exit $status"
done

### refused
make_bundle sample s.clbin
echo no > text
oclcc --verify; echo "exit $?"
oclcc --verify missing.clbin text s.clbin; echo "exit $?"
head -c 3000 s.clbin > cut.clbin
mkdir folder
oclcc --verify cut.clbin folder; echo "exit $?"
oclcc --verify s.clbin s.clbin; echo "exit $?" # the same bundle twice is accepted
oclcc --verify --json text s.clbin > v.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/verify.schema.json" < v.json
oclcc --info --run s.clbin; echo "exit $?"
oclcc --verify s.clbin -o b.clbin; echo "exit $?"
# expected output:
#| exit 2
#| exit 3
#| exit 4
#| exit 0
#| exit 4
#| fits the schema
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: '--verify' needs a bundle
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: text: not a bundle: it starts with 6e 6f 0a
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 3000 bytes are present
#| oclcc: error: cannot read 'folder': Is a directory
#| oclcc: error: text: not a bundle: it starts with 6e 6f 0a
#| oclcc: error: '--run' cannot be used with '--info'
#| oclcc: error: '-o' cannot be used with '--verify'

### sound
# Prints nothing for valid bundles. -v and --json print details.
make_bundle sample s.clbin
oclcc --verify s.clbin; echo "exit $?"
oclcc --verify - < s.clbin; echo "exit $?"
oclcc -v --verify s.clbin
oclcc --verify --json s.clbin > v.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/verify.schema.json" < v.json
# expected output:
#| exit 0
#| exit 0
#| exit 0
#| fits the schema
# expected errors:
#| s.clbin: sound, 7 entries
