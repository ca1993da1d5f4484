#!/bin/bash
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
