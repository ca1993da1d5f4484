#!/bin/bash
# Encrypted bundles in the other modes, with and without their keys.

### modes
# With its key, every mode reads an encrypted bundle as the plain one, and what it makes of it is
# encrypted in the same way.
make_bundle sample s.clbin
make_bundle changed t.clbin
oclcc --keygen c --key-type content
oclcc --keygen r --key-type recipient
for name in s t; do oclcc --encrypt --encrypt-key c.key --encrypt-for r.pub $name.clbin -o $name.enc.clbin; done
for key in c r; do
  with=(--decrypt-key "$key.key")
  echo "== $key"
  oclcc --info -v "${with[@]}" s.enc.clbin | grep -v -e digest -e ' size ' | sed 's/key [0-9a-f]*/key ID/; s/recipient .*/recipient ID/' > listing
  oclcc --info -v s.clbin | grep -v -e digest -e ' size ' | diff - listing
  oclcc --info --json "${with[@]}" s.enc.clbin > report
  python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json" < report
  oclcc --verify "${with[@]}" s.enc.clbin s.clbin; echo "exit $?"
  oclcc --verify --json "${with[@]}" s.enc.clbin > report; echo "exit $?"
  python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/verify.schema.json" < report
  grep contents report
  oclcc --diff "${with[@]}" s.enc.clbin s.clbin; echo "exit $?"
  oclcc --diff s.clbin t.clbin | tail -n +3 > plain.diff
  oclcc --diff "${with[@]}" s.enc.clbin t.enc.clbin | tail -n +3 | cmp - plain.diff
  oclcc --diff "${with[@]}" - t.clbin < s.enc.clbin | tail -n +3 | cmp - plain.diff
  oclcc --extract s.clbin -o plain && oclcc --extract "${with[@]}" s.enc.clbin -o out && diff -r plain out && echo 'extracted'
  rm -rf plain out
  oclcc s.clbin -o plain.hpp && oclcc "${with[@]}" s.enc.clbin -o out.hpp && cmp plain.hpp out.hpp && echo 'launchers'
done

# The result of a mode, decrypted, is that of the plain bundle. Encrypted, it is that of encrypting.
changes() {
  oclcc "$@" s.clbin -o plain.clbin
  oclcc "$@" --decrypt-key c.key s.enc.clbin -o changed.clbin; echo "$1: exit $?"
  oclcc --decrypt --decrypt-key r.key changed.clbin -o decrypted.clbin && cmp decrypted.clbin plain.clbin
  oclcc --info -v changed.clbin | grep -c -e '^  encrypted' -e '^  recipient'
  oclcc "$@" --encrypt-key c.key s.clbin -o a.clbin
  oclcc --encrypt --encrypt-key c.key plain.clbin -o b.clbin
  cmp a.clbin b.clbin
  oclcc "$@" --encrypt-key c.key --decrypt-key r.key s.enc.clbin -o a.clbin
  cmp a.clbin b.clbin
  oclcc "$@" --encrypt-for r.pub --decrypt-key c.key s.enc.clbin -o a.clbin
  oclcc --decrypt --decrypt-key r.key a.clbin && cmp a.clbin plain.clbin
}
changes --repack
changes --merge
changes --strip --strip-source
changes --strip --drop-target nvptx
changes --strip --strip-reflection
# expected output:
#| == c
#| 1c1,3
#| < s.clbin: bundle of format 1.0, 7 entries, 3816 bytes
#| ---
#| > s.enc.clbin: bundle of format 1.0, 7 entries, * bytes
#| >   encrypted with content key ID
#| >   recipient ID
#| fits the schema
#| exit 0
#| exit 0
#| fits the schema
#|       "contents_checked": true,
#| exit 0
#| extracted
#| launchers
#| == r
#| 1c1,3
#| < s.clbin: bundle of format 1.0, 7 entries, 3816 bytes
#| ---
#| > s.enc.clbin: bundle of format 1.0, 7 entries, * bytes
#| >   encrypted with content key ID
#| >   recipient ID
#| fits the schema
#| exit 0
#| exit 0
#| fits the schema
#|       "contents_checked": true,
#| exit 0
#| extracted
#| launchers
#| --repack: exit 0
#| 2
#| --merge: exit 0
#| 2
#| --strip: exit 0
#| 2
#| --strip: exit 0
#| 2
#| --strip: exit 0
#| 2

### locked
# Without its key, an encrypted bundle shows what is readable. What needs contents is refused, and
# nothing is written.
make_bundle sample s.clbin
make_bundle changed changed.clbin
oclcc --keygen c --key-type content
oclcc --keygen other --key-type content
oclcc --keygen r --key-type recipient
oclcc --keygen k --no-passphrase
oclcc --encrypt --encrypt-key c.key --encrypt-for r.pub s.clbin -o e.clbin
cp e.clbin before.clbin
find . -type f | sort > ../before
for key in '' '--decrypt-key other.key'; do
  try() {
    echo "== oclcc $* $key"
    # shellcheck disable=SC2086
    oclcc "$@" $key e.clbin; echo "exit $?"
  }
  try --info -v > ../listing
  sed -E 's/[0-9a-f]{64}/DIGEST/' ../listing | sed -n 1,14p
  try --verify
  try --verify --json
  try --explain --device none
  try --diff s.clbin
  try --extract -o out
  try --merge s.clbin -o never.clbin
  try --repack
  try --repack -o never.clbin
  try --strip --strip-source
  try --decrypt --decrypt-key other.key
  try --encrypt --encrypt-key other.key
  try --target spirv:1.2 -o never.clbin
  try --emit=hpp -o never.hpp
done
oclcc --diff e.clbin e.clbin; echo "exit $?"
oclcc --info --json e.clbin > ../report; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/info.schema.json" < ../report
sed -n '/"encrypted"/,/]/p' ../report | sed -E 's/[0-9a-f]{64}/DIGEST/'
cmp e.clbin before.clbin
find . -type f | sort | diff ../before -

# These need no contents.
oclcc --sign --key k.key e.clbin -o signed.clbin; echo "exit $?"
oclcc --verify --public-key k.pub signed.clbin; echo "exit $?"
oclcc --sign --key k.key --decrypt-key c.key before.clbin; echo "exit $?"
cmp before.clbin signed.clbin && echo 'the same signature'
oclcc --sign-message e.clbin | wc -c
oclcc -q --sign-message --decrypt-key r.key e.clbin | wc -c
oclcc --strip-signature signed.clbin && cmp signed.clbin e.clbin && echo 'the same without signature'
oclcc e.clbin -o e.o; echo "exit $?"
oclcc e.clbin --decrypt-key c.key -o f.o --symbol e_clbin && cmp e.o f.o && echo 'the same object file'
oclcc e.clbin --decrypt-key other.key -o g.o; echo "exit $?"
python3 -c 'assert open("e.clbin", "rb").read() in open("e.o", "rb").read(); print("embedded as it is")'

# What is damaged is found without the key, or with it.
for place in 2500 4480; do
  python3 - $place <<'END_OF_PYTHON'
import sys

data = bytearray(open("e.clbin", "rb").read())
data[int(sys.argv[1])] ^= 1
open("flipped.clbin", "wb").write(data)
END_OF_PYTHON
  oclcc --verify flipped.clbin; echo "exit $?"
  oclcc --verify --decrypt-key c.key flipped.clbin; echo "exit $?"
  oclcc --sign --key k.key flipped.clbin; echo "exit $?"
  oclcc --info -v flipped.clbin > listing; echo "exit $?"
done
# expected output:
#| == oclcc --info -v 
#| e.clbin: bundle of format 1.0, 7 entries, * bytes
#|   digest    DIGEST
#|   encrypted with content key DIGEST: contents are not shown without '--decrypt-key'
#|   recipient DIGEST
#|
#| program 'matmul', variant 'default'
#|   options   none
#|   source    kept, encrypted
#|   entry     PTX 7.5 for sm_50
#|     target    nvptx:sm_50
#|     size      261 bytes, 60 stored against another payload
#|     digest    DIGEST
#|     options   -DN=4
#| == oclcc --verify 
#| exit 0
#| == oclcc --verify --json 
#| {
#|   "bundles": [
#|     {
#|       "contents_checked": false,
#|       "entries": 7,
#|       "entries_not_run": 0,
#|       "errors": [],
#|       "file": "e.clbin",
#|       "runs": []
#|     }
#|   ],
#|   "version": 1
#| }
#| exit 0
#| == oclcc --explain --device none 
#| exit 4
#| == oclcc --diff s.clbin 
#| exit 4
#| == oclcc --extract -o out 
#| exit 4
#| == oclcc --merge s.clbin -o never.clbin 
#| exit 4
#| == oclcc --repack 
#| exit 4
#| == oclcc --repack -o never.clbin 
#| exit 4
#| == oclcc --strip --strip-source 
#| exit 4
#| == oclcc --decrypt --decrypt-key other.key 
#| exit 4
#| == oclcc --encrypt --encrypt-key other.key 
#| exit 4
#| == oclcc --target spirv:1.2 -o never.clbin 
#| exit 4
#| == oclcc --emit=hpp -o never.hpp 
#| exit 4
#| == oclcc --info -v --decrypt-key other.key
#| e.clbin: bundle of format 1.0, 7 entries, * bytes
#|   digest    DIGEST
#|   encrypted with content key DIGEST: contents are not shown without '--decrypt-key'
#|   recipient DIGEST
#|
#| program 'matmul', variant 'default'
#|   options   none
#|   source    kept, encrypted
#|   entry     PTX 7.5 for sm_50
#|     target    nvptx:sm_50
#|     size      261 bytes, 60 stored against another payload
#|     digest    DIGEST
#|     options   -DN=4
#| == oclcc --verify --decrypt-key other.key
#| exit 4
#| == oclcc --verify --json --decrypt-key other.key
#| {
#|   "bundles": [
#|     {
#|       "contents_checked": false,
#|       "entries": 0,
#|       "entries_not_run": 0,
#|       "errors": [
#|         {
#|           "code": 64,
#|           "message": "e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *"
#|         }
#|       ],
#|       "file": "e.clbin",
#|       "runs": []
#|     }
#|   ],
#|   "version": 1
#| }
#| exit 4
#| == oclcc --explain --device none --decrypt-key other.key
#| exit 4
#| == oclcc --diff s.clbin --decrypt-key other.key
#| exit 4
#| == oclcc --extract -o out --decrypt-key other.key
#| exit 4
#| == oclcc --merge s.clbin -o never.clbin --decrypt-key other.key
#| exit 4
#| == oclcc --repack --decrypt-key other.key
#| exit 4
#| == oclcc --repack -o never.clbin --decrypt-key other.key
#| exit 4
#| == oclcc --strip --strip-source --decrypt-key other.key
#| exit 4
#| == oclcc --decrypt --decrypt-key other.key --decrypt-key other.key
#| exit 4
#| == oclcc --encrypt --encrypt-key other.key --decrypt-key other.key
#| exit 4
#| == oclcc --target spirv:1.2 -o never.clbin --decrypt-key other.key
#| exit 4
#| == oclcc --emit=hpp -o never.hpp --decrypt-key other.key
#| exit 4
#| exit 4
#| exit 0
#| fits the schema
#|       "encrypted": {
#|         "key_given": false,
#|         "key_id": "DIGEST",
#|         "recipients": [
#|           "DIGEST"
#|         ]
#| exit 0
#| exit 0
#| exit 0
#| the same signature
#| 43
#| 43
#| the same without signature
#| exit 0
#| the same object file
#| exit 4
#| embedded as it is
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 4
# expected errors:
#| oclcc: warning: e.clbin: its contents were not checked, because it is encrypted: name its key with '--decrypt-key'
#| oclcc: warning: e.clbin: its contents were not checked, because it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: warning: e.clbin: its contents were not checked, because it is encrypted: name its key with '--decrypt-key'
#| oclcc: warning: signed.clbin: its contents were not checked, because it is encrypted: name its key with '--decrypt-key'
#| oclcc: warning: e.clbin: its contents were not checked, because it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: flipped.clbin: blob *: stored_digest does not match: it was changed
#| oclcc: error: flipped.clbin: blob *: stored_digest does not match: it was changed
#| oclcc: error: flipped.clbin: blob *: stored_digest does not match: it was changed
#| oclcc: error: flipped.clbin: blob *: stored_digest does not match: it was changed
#| oclcc: error: flipped.clbin: page 0 of KEYS: its digest does not match: it was changed
#| oclcc: error: flipped.clbin: page 0 of KEYS: its digest does not match: it was changed
#| oclcc: error: flipped.clbin: page 0 of KEYS: its digest does not match: it was changed
#| oclcc: error: flipped.clbin: page 0 of KEYS: its digest does not match: it was changed

### overwrite
# An output never replaces a key that it is made with.
make_bundle sample s.clbin
echo 'kernel void k(global int* a) { a[get_global_id(0)] = 3; }' > k.cl
oclcc --keygen c --key-type content
oclcc --keygen r --key-type recipient
oclcc --keygen k --no-passphrase
ln -s c.key link
oclcc --encrypt --encrypt-key c.key s.clbin -o e.clbin
oclcc --extract s.clbin -o there && binary=$(cd there && find . -name '*.ptx' | sort | head -n 1) && rm -rf there
mkdir taken && cp c.key "taken/$binary"
find . -type f -exec sha256sum {} + > ../before
refuses() { "$@"; echo "exit $?"; sha256sum --quiet -c ../before; }
refuses oclcc --encrypt --encrypt-key c.key s.clbin -o c.key
refuses oclcc --encrypt --encrypt-key c.key s.clbin -o link
refuses oclcc --encrypt --encrypt-for r.pub s.clbin -o ./r.pub
refuses oclcc --encrypt --encrypt-key link s.clbin -o c.key
refuses oclcc --decrypt --decrypt-key c.key e.clbin -o c.key
refuses oclcc --merge --decrypt-key c.key s.clbin e.clbin -o c.key
refuses oclcc --repack --decrypt-key c.key e.clbin -o c.key
refuses oclcc --strip --strip-source --decrypt-key c.key e.clbin -o link
refuses oclcc --sign --key k.key --decrypt-key c.key e.clbin -o c.key
refuses oclcc --sign-message --decrypt-key c.key e.clbin -o c.key
refuses oclcc --extract --decrypt-key "taken/$binary" e.clbin -o taken
refuses oclcc k.cl --source-only --encrypt-key c.key -o c.key
refuses oclcc k.cl --source-only --encrypt-key c.key -MD -MF c.key -o k.clbin
refuses oclcc k.cl --source-only --encrypt-key c.key --embed-header c.key -o k.o
refuses oclcc k.cl --source-only --encrypt-for r.pub -o r.pub
refuses oclcc e.clbin --decrypt-key c.key -o c.key
refuses oclcc e.clbin --decrypt-key c.key --emit o -o c.key
refuses oclcc e.clbin --decrypt-key c.key --emit hpp -o c.key
refuses oclcc e.clbin --decrypt-key c.key --target spirv:1.2 -MD -MF c.key -o new.clbin
ls
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| c.key
#| e.clbin
#| k.cl
#| k.key
#| k.pub
#| link
#| r.key
#| r.pub
#| s.clbin
#| taken
# expected errors:
#| oclcc: error: 'c.key' is both an input and the output
#| oclcc: error: 'link' is both an input and the output
#| oclcc: error: './r.pub' is both an input and the output
#| oclcc: error: 'c.key' is both an input and the output
#| oclcc: error: 'c.key' is both an input and the output
#| oclcc: error: 'c.key' is both an input and the output
#| oclcc: error: 'c.key' is both an input and the output
#| oclcc: error: 'link' is both an input and the output
#| oclcc: error: 'c.key' is both an input and the output
#| oclcc: error: 'c.key' is both an input and the output
#| oclcc: error: e.clbin: 'taken/matmul.default.nvptx_sm_50.ptx' is both an input and the output
#| oclcc: error: 'c.key' is both an input and the output
#| oclcc: error: 'c.key' is both an input and the output
#| oclcc: error: 'c.key' is both an input and the output
#| oclcc: error: 'r.pub' is both an input and the output
#| oclcc: error: 'c.key' is both an input and the output
#| oclcc: note: to see its contents: oclcc --info e.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: error: 'c.key' is both an input and the output
#| oclcc: error: 'c.key' is both an input and the output
#| oclcc: error: 'c.key' is both an input and the output
#| oclcc: note: to see its contents: oclcc --info e.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
