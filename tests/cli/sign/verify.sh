#!/bin/bash
# --verify with keys requires a signature. Without keys, it reports signatures that do not hold.
make_bundle sample s.clbin
cp s.clbin unsigned.clbin
for name in a b; do oclcc --keygen $name --no-passphrase; done
oclcc --sign --key a.key --counter 5 s.clbin
verify() { oclcc --verify "$@"; echo "exit $?"; }
verify s.clbin unsigned.clbin
verify --public-key a.pub s.clbin
verify --public-key b.pub --public-key a.pub s.clbin
verify --public-key "$(tail -n 1 a.pub)" --least-counter 5 - < s.clbin
verify --public-key a.pub unsigned.clbin s.clbin
verify --public-key b.pub s.clbin
verify --public-key a.pub --least-counter 6 s.clbin
oclcc --verify --public-key b.pub --json s.clbin > report; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/verify.schema.json" < report
oclcc --verify --public-key missing.pub --json s.clbin unsigned.clbin > report; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/verify.schema.json" < report && cat report
verify --public-key missing.pub s.clbin
verify --public-key RWnonsense s.clbin

# A flipped bit of the signature, of the counter, and of the bundle.
size=$(stat -c %s s.clbin)
for place in $((size - 1)) $((size - 121)) 3000; do
  python3 - "$place" <<'END_OF_PYTHON'
import sys

data = bytearray(open("s.clbin", "rb").read())
data[int(sys.argv[1])] ^= 1
open("flipped.clbin", "wb").write(data)
END_OF_PYTHON
  verify --public-key a.pub flipped.clbin
  verify flipped.clbin
done
python3 - <<'END_OF_PYTHON'
data = bytearray(open("s.clbin", "rb").read())
data[-1] ^= 1
open("flipped.clbin", "wb").write(data)
END_OF_PYTHON
oclcc --sign --key b.key flipped.clbin; echo "exit $?"
oclcc --sign --key a.key flipped.clbin; echo "exit $?"
oclcc --sign --key a.key --counter 5 flipped.clbin && cmp flipped.clbin s.clbin && echo 'signed again'
# expected output:
#| exit 0
#| exit 0
#| exit 0
#| exit 0
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| fits the schema
#| exit 3
#| fits the schema
#| {
#|   "bundles": [
#|     {
#|       "contents_checked": false,
#|       "entries": 0,
#|       "entries_not_run": 0,
#|       "errors": [
#|         {
#|           "code": 20,
#|           "message": "cannot open 'missing.pub': No such file or directory"
#|         }
#|       ],
#|       "file": "s.clbin",
#|       "runs": []
#|     },
#|     {
#|       "contents_checked": false,
#|       "entries": 0,
#|       "entries_not_run": 0,
#|       "errors": [
#|         {
#|           "code": 20,
#|           "message": "cannot open 'missing.pub': No such file or directory"
#|         }
#|       ],
#|       "file": "unsigned.clbin",
#|       "runs": []
#|     }
#|   ],
#|   "version": 1
#| }
#| exit 3
#| exit 3
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| signed again
# expected errors:
#| oclcc: error: unsigned.clbin: a signature is required, and the bundle has none
#| oclcc: error: s.clbin: the bundle is signed by no trusted key, but by *
#| oclcc: error: s.clbin: the counter is 5, and 6 is the least one accepted
#| oclcc: error: s.clbin: the bundle is signed by no trusted key, but by *
#| oclcc: error: cannot open 'missing.pub': No such file or directory
#| oclcc: error: cannot open 'missing.pub': No such file or directory
#| oclcc: error: cannot open 'RWnonsense': No such file or directory
#| oclcc: error: flipped.clbin: the counter by key * does not hold
#| oclcc: error: flipped.clbin: the counter by key * does not hold
#| oclcc: error: flipped.clbin: the signature by key * does not hold
#| oclcc: error: flipped.clbin: the signature by key * does not hold
#| oclcc: error: flipped.clbin: blob 2: stored_digest does not match: it was changed
#| oclcc: error: flipped.clbin: blob 2: stored_digest does not match: it was changed
#| oclcc: error: flipped.clbin: the counter by key * does not hold; '--strip-signature' removes it
#| oclcc: error: flipped.clbin: the counter by key * does not hold; '--strip-signature' removes it
