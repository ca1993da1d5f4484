#!/bin/bash
# --decrypt restores what --encrypt encrypted. Equal contents and keys have equal bytes.
make_bundle sample s.clbin
for name in c d; do oclcc --keygen $name --key-type content; done
for name in r q; do oclcc --keygen $name --key-type recipient; done
same() { cmp "$1" "$2" && echo "$1 is $2"; }

oclcc --encrypt --encrypt-key c.key s.clbin -o e.clbin; echo "exit $?"
cmp -s e.clbin s.clbin || echo 'encrypted'
oclcc --decrypt --decrypt-key c.key e.clbin -o p.clbin; echo "exit $?"
same p.clbin s.clbin
cp s.clbin in_place.clbin
mkdir -p other/folder
(cd other/folder && cp ../../s.clbin name.clbin && oclcc --encrypt --encrypt-key ../../c.key name.clbin; echo "exit $?")
same other/folder/name.clbin e.clbin
oclcc --encrypt --encrypt-key c.key in_place.clbin && same in_place.clbin e.clbin
oclcc --decrypt --decrypt-key c.key in_place.clbin && same in_place.clbin s.clbin
oclcc --encrypt --encrypt-key c.key - -o - < s.clbin | cmp - e.clbin && echo 'piped'
oclcc --decrypt --decrypt-key c.key - -o - < e.clbin | cmp - s.clbin && echo 'piped'
oclcc --encrypt --encrypt-key d.key s.clbin -o d.clbin
cmp -s d.clbin e.clbin || echo 'other bytes with another key'

# For recipients: each time other bytes.
oclcc --encrypt --encrypt-for r.pub --encrypt-for q.pub --encrypt-for r.pub s.clbin -o r1.clbin; echo "exit $?"
oclcc --encrypt --encrypt-for r.pub --encrypt-for q.pub s.clbin -o r2.clbin
cmp -s r1.clbin r2.clbin || echo 'other bytes'
for key in r q; do for n in 1 2; do oclcc --decrypt --decrypt-key $key.key r$n.clbin -o p.clbin && same p.clbin s.clbin; done; done
oclcc --encrypt --encrypt-key c.key --encrypt-for r.pub s.clbin -o both.clbin
for key in r c; do oclcc --decrypt --decrypt-key $key.key both.clbin -o p.clbin && same p.clbin s.clbin; done
oclcc --decrypt --decrypt-key q.key --decrypt-key d.key --decrypt-key r.key both.clbin -o p.clbin && same p.clbin s.clbin

# A new content key for each bundle.
cp s.clbin s1.clbin; cp s.clbin s2.clbin
oclcc --encrypt --encrypt-for r.pub s1.clbin s2.clbin; echo "exit $?"
for n in 1 2; do oclcc --info -v s$n.clbin | grep 'content key'; done | uniq | wc -l
oclcc --decrypt --decrypt-key r.key s1.clbin s2.clbin && cmp s1.clbin s2.clbin && same s1.clbin s.clbin
rm s1.clbin s2.clbin

# Encrypted anew, for others.
oclcc --encrypt --encrypt-key d.key --decrypt-key c.key e.clbin -o anew.clbin && same anew.clbin d.clbin
oclcc --encrypt --encrypt-for q.pub --decrypt-key r.key both.clbin; echo "exit $?"
oclcc --verify --decrypt-key r.key both.clbin; echo "exit $?"
oclcc --verify --decrypt-key c.key both.clbin; echo "exit $?"
oclcc --decrypt --decrypt-key q.key both.clbin && same both.clbin s.clbin

# Signatures are removed, because the contents change.
oclcc --keygen k --no-passphrase
oclcc --sign --key k.key s.clbin -o signed.clbin
oclcc --encrypt --encrypt-key c.key signed.clbin -o x.clbin; echo "exit $?"
same x.clbin e.clbin
oclcc --sign --key k.key --decrypt-key c.key x.clbin && oclcc --verify --public-key k.pub --decrypt-key c.key x.clbin; echo "exit $?"
oclcc --decrypt --decrypt-key c.key --json x.clbin | python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/change.schema.json"
same x.clbin s.clbin

# Mistakes.
cp e.clbin before.clbin
oclcc --encrypt --encrypt-key d.key e.clbin; echo "exit $?"
oclcc --decrypt --decrypt-key d.key --decrypt-key r.key e.clbin; echo "exit $?"
oclcc --decrypt --decrypt-key c.key s.clbin; echo "exit $?"
oclcc --decrypt e.clbin; echo "exit $?"
oclcc --encrypt s.clbin; echo "exit $?"
oclcc --encrypt --encrypt-key c.key s.clbin d.clbin -o x; echo "exit $?"
oclcc --encrypt --encrypt-key c.key -; echo "exit $?"
oclcc --encrypt --encrypt-key c.key missing.clbin; echo "exit $?"
oclcc --decrypt --decrypt-key q.key r1.clbin missing.clbin r2.clbin; echo "exit $?"
cmp r1.clbin s.clbin && cmp r2.clbin s.clbin && cmp e.clbin before.clbin
ls
# expected output:
#| exit 0
#| encrypted
#| exit 0
#| p.clbin is s.clbin
#| exit 0
#| other/folder/name.clbin is e.clbin
#| in_place.clbin is e.clbin
#| in_place.clbin is s.clbin
#| piped
#| piped
#| other bytes with another key
#| exit 0
#| other bytes
#| p.clbin is s.clbin
#| p.clbin is s.clbin
#| p.clbin is s.clbin
#| p.clbin is s.clbin
#| p.clbin is s.clbin
#| p.clbin is s.clbin
#| p.clbin is s.clbin
#| exit 0
#| 2
#| s1.clbin is s.clbin
#| anew.clbin is d.clbin
#| exit 0
#| exit 4
#| exit 4
#| both.clbin is s.clbin
#| exit 0
#| x.clbin is e.clbin
#| exit 0
#| fits the schema
#| x.clbin is s.clbin
#| exit 4
#| exit 4
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 3
#| exit 3
#| anew.clbin
#| before.clbin
#| both.clbin
#| c.key
#| d.clbin
#| d.key
#| e.clbin
#| in_place.clbin
#| k.key
#| k.pub
#| other
#| p.clbin
#| q.key
#| q.pub
#| r.key
#| r.pub
#| r1.clbin
#| r2.clbin
#| s.clbin
#| signed.clbin
#| x.clbin
# expected errors:
#| oclcc: error: both.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: error: both.clbin: no key of '--decrypt-key' opens it: its content key is *, and its recipient is *
#| oclcc: note: x.clbin: the signatures of the input were removed, because the contents changed: sign it again
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: e.clbin: no key of '--decrypt-key' opens it: its content key is *
#| oclcc: error: s.clbin: it is not encrypted
#| oclcc: error: '--decrypt' needs '--decrypt-key'
#| oclcc: error: '--encrypt' needs '--encrypt-key' or '--encrypt-for'
#| oclcc: error: '-o' accepts the output of '--encrypt' for one bundle, but 2 are given
#| oclcc: error: '--encrypt' cannot replace standard input: name an output with '-o'
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
