#!/bin/bash
# Bundles that are encrypted and decrypted.

### round_trip
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

### compile
# A compile encrypts before it signs and embeds, and uses nothing of the compile cache.
echo 'kernel void k(global int* a) { a[get_global_id(0)] = 3; }' > k.cl
oclcc --keygen c --key-type content
oclcc --keygen d --key-type content
oclcc --keygen r --key-type recipient
oclcc --keygen s --no-passphrase
oclcc k.cl --source-only -o plain.clbin
oclcc k.cl --source-only --encrypt-key c.key; echo "exit $?"
oclcc --encrypt --encrypt-key c.key plain.clbin -o e.clbin && cmp k.clbin e.clbin && echo 'the same bytes'
mkdir other
(cd other && cp ../k.cl . && oclcc -j2 k.cl --source-only --encrypt-key ../c.key)
cmp other/k.clbin k.clbin
oclcc k.cl --source-only --encrypt-for r.pub -o r1.clbin; echo "exit $?"
oclcc k.cl --source-only --encrypt-for r.pub -o r2.clbin
cmp -s r1.clbin r2.clbin || echo 'other bytes'
for n in 1 2; do oclcc --decrypt --decrypt-key r.key r$n.clbin && cmp r$n.clbin plain.clbin; done
oclcc k.cl --source-only --encrypt-for r.pub --encrypt-key c.key -o both.clbin
for key in c r; do oclcc --decrypt --decrypt-key $key.key both.clbin -o p.clbin && cmp p.clbin plain.clbin; done

# Signed and encrypted by one run.
oclcc k.cl --source-only --encrypt-key c.key --sign-key s.key --counter 4 -o signed.clbin; echo "exit $?"
oclcc --sign --key s.key --counter 4 --decrypt-key c.key e.clbin && cmp e.clbin signed.clbin && echo 'signed as by --sign'
oclcc --verify --public-key s.pub --least-counter 4 --decrypt-key c.key signed.clbin; echo "exit $?"

# Embedded.
for suffix in h c o s; do
  oclcc k.cl --source-only --encrypt-key c.key -o k.$suffix; echo "exit $?"
  oclcc k.clbin -o converted.$suffix --symbol k_clbin
  cmp k.$suffix converted.$suffix
done
python3 -c 'assert open("k.clbin", "rb").read() in open("k.o", "rb").read(); print("k.o contains k.clbin")'

# The cache.
oclcc --clear-cache
oclcc -v k.cl --source-only --encrypt-key c.key -o x.clbin 2>&1 | grep -i cache
oclcc -v k.cl --source-only --encrypt-for r.pub -o x.clbin 2>&1 | grep -i cache
find "$XDG_CACHE_HOME" -name '*.bundle'
oclcc k.cl --source-only -o x.clbin
oclcc -v k.cl --source-only -o x.clbin 2>&1 | grep -i bundle:
oclcc -v k.cl --source-only --encrypt-key c.key -o x.clbin 2>&1 | grep -i cache
cmp x.clbin k.clbin

# Mistakes.
rm -f x.clbin
for output in k.ptx k.cubin k.spv k.bin k.hpp; do
  oclcc k.cl --target spirv:1.2 --encrypt-key c.key -o $output; echo "exit $?"
  oclcc k.cl --target spirv:1.2 --encrypt-for r.pub -o $output; echo "exit $?"
done
oclcc k.cl --source-only --encrypt-key missing.key -o never.clbin -MD; echo "exit $?"
oclcc k.cl --source-only --decrypt-key c.key -o never.clbin; echo "exit $?"
oclcc k.clbin --encrypt-key c.key -o never.o; echo "exit $?"
oclcc k.cl --encrypt-key c.key -fsyntax-only; echo "exit $?"
oclcc k.cl --encrypt-for r.pub -M; echo "exit $?"
ls
# expected output:
#| exit 0
#| the same bytes
#| exit 0
#| other bytes
#| exit 0
#| signed as by --sign
#| exit 0
#| exit 0
#| exit 0
#| exit 0
#| exit 0
#| k.o contains k.clbin
#| compile cache: off: it would contain the kernels of an encrypted bundle
#| compile cache: off: it would contain the kernels of an encrypted bundle
#| bundle: from the compile cache
#| compile cache: off: it would contain the kernels of an encrypted bundle
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
#| exit 3
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| both.clbin
#| c.key
#| converted.c
#| converted.h
#| converted.o
#| converted.s
#| d.key
#| e.clbin
#| k.c
#| k.cl
#| k.clbin
#| k.h
#| k.o
#| k.s
#| other
#| p.clbin
#| plain.clbin
#| r.key
#| r.pub
#| r1.clbin
#| r2.clbin
#| s.key
#| s.pub
#| signed.clbin
# expected errors:
#| oclcc: error: '--encrypt-key' is for bundles, but 'k.ptx' is not one
#| oclcc: error: '--encrypt-for' is for bundles, but 'k.ptx' is not one
#| oclcc: error: '--encrypt-key' is for bundles, but 'k.cubin' is not one
#| oclcc: error: '--encrypt-for' is for bundles, but 'k.cubin' is not one
#| oclcc: error: '--encrypt-key' is for bundles, but 'k.spv' is not one
#| oclcc: error: '--encrypt-for' is for bundles, but 'k.spv' is not one
#| oclcc: error: '--encrypt-key' is for bundles, but 'k.bin' is not one
#| oclcc: error: '--encrypt-for' is for bundles, but 'k.bin' is not one
#| oclcc: error: '--encrypt-key' is for bundles, but 'k.hpp' is not one
#| oclcc: error: '--encrypt-for' is for bundles, but 'k.hpp' is not one
#| oclcc: error: cannot open 'missing.key': No such file or directory
#| oclcc: error: '--decrypt-key' is for bundles, but no input is one
#| oclcc: error: '--encrypt-key' cannot be used with 'k.clbin', which is a bundle: nothing is compiled
#| oclcc: error: '--encrypt-key' and '-fsyntax-only' cannot be used together
#| oclcc: error: '--encrypt-for' and '-M' cannot be used together

### merge
# A merge is encrypted if one of its inputs is. Inputs with different content keys need the choice
# of another.
for n in 1 2 3; do make_bundle unit $n $n.clbin; done
for name in c d; do oclcc --keygen $name --key-type content; done
for name in r q; do oclcc --keygen $name --key-type recipient; done
oclcc --merge 1.clbin 2.clbin 3.clbin -o plain.clbin
encrypt() { oclcc --encrypt --encrypt-key "$1.key" "$2.clbin" -o "$2$1.clbin" "${@:3}"; }
for n in 1 2 3; do encrypt c $n; encrypt d $n; done
oclcc --encrypt --encrypt-key c.key plain.clbin -o encrypted.clbin

merge() { oclcc --merge "$@" -o out.clbin; echo "exit $?"; }
merge --decrypt-key c.key 1c.clbin 2c.clbin 3c.clbin; cmp out.clbin encrypted.clbin
merge --decrypt-key c.key 3c.clbin 1c.clbin 2c.clbin; cmp out.clbin encrypted.clbin
merge --decrypt-key c.key 1.clbin 2c.clbin 3.clbin; cmp out.clbin encrypted.clbin
merge --encrypt-key c.key 1.clbin 2.clbin 3.clbin; cmp out.clbin encrypted.clbin
merge --decrypt-key c.key --decrypt-key d.key --encrypt-key c.key 1c.clbin 2d.clbin 3.clbin; cmp out.clbin encrypted.clbin
merge --decrypt-key c.key --decrypt-key d.key --encrypt-for r.pub 1c.clbin 2d.clbin 3.clbin
oclcc --decrypt --decrypt-key r.key out.clbin && cmp out.clbin plain.clbin && echo 'for a recipient'

rm out.clbin
merge --decrypt-key c.key --decrypt-key d.key 1c.clbin 2d.clbin 3.clbin
merge --decrypt-key c.key 1c.clbin 2d.clbin
merge 1.clbin 2c.clbin
merge --encrypt-key c.key 1.clbin 2c.clbin
[ -e out.clbin ] || echo 'nothing is written'

# One content key, for several recipients: the result is for all of them, in any order.
oclcc --encrypt --encrypt-key c.key --encrypt-for r.pub 1.clbin -o 1r.clbin
oclcc --encrypt --encrypt-key c.key --encrypt-for q.pub --encrypt-for r.pub 2.clbin -o 2q.clbin
merge --decrypt-key c.key 1r.clbin 2q.clbin 3c.clbin; mv out.clbin one.clbin
merge --decrypt-key r.key --decrypt-key c.key 3c.clbin 2q.clbin 1r.clbin; cmp out.clbin one.clbin
oclcc --info -v one.clbin | grep -c recipient
for key in c r q; do oclcc --decrypt --decrypt-key $key.key one.clbin -o p.clbin && cmp p.clbin plain.clbin; done
# expected output:
#| exit 0
#| exit 0
#| exit 0
#| exit 0
#| exit 0
#| exit 0
#| for a recipient
#| exit 2
#| exit 4
#| exit 4
#| exit 4
#| nothing is written
#| exit 0
#| exit 0
#| 2
# expected errors:
#| oclcc: note: out.clbin: encrypted with the key of 2c.clbin: whoever can open 2c.clbin can also read what comes from 1.clbin, which is plain; '--encrypt-key' or '--encrypt-for' choose another key
#| oclcc: error: 1c.clbin and 2d.clbin are encrypted with different content keys: choose that of the output with '--encrypt-key' or '--encrypt-for'
#| oclcc: error: 2d.clbin: no key of '--decrypt-key' opens it: its content key is *
#| oclcc: error: 2c.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: 2c.clbin: it is encrypted: name its key with '--decrypt-key'

### raw_output
# No device binary is made of an encrypted bundle, because it would not be encrypted.
make_bundle sample s.clbin
oclcc --keygen c --key-type content
oclcc --encrypt --encrypt-key c.key s.clbin -o e.clbin
for name in k.ptx k.spv k.cubin k.bin; do
  oclcc --decrypt-key c.key --target nvptx:sm_50 e.clbin -o $name; echo "exit $?"
done
oclcc --decrypt-key c.key --encrypt-key c.key --target nvptx:sm_50 e.clbin -o k.ptx; echo "exit $?"
oclcc --decrypt-key c.key --target nvptx:sm_50 e.clbin s.clbin -o k.ptx; echo "exit $?"
compgen -G 'k.*' || echo 'nothing is written'
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| nothing is written
# expected errors:
#| oclcc: warning: e.clbin: program 'reduce' is not built, and its entries are kept: it has no source
#| oclcc: error: 'k.ptx' would not be encrypted, but 'e.clbin' is: compile what '--decrypt' makes of it
#| oclcc: warning: e.clbin: program 'reduce' is not built, and its entries are kept: it has no source
#| oclcc: error: 'k.spv' would not be encrypted, but 'e.clbin' is: compile what '--decrypt' makes of it
#| oclcc: warning: e.clbin: program 'reduce' is not built, and its entries are kept: it has no source
#| oclcc: error: 'k.cubin' would not be encrypted, but 'e.clbin' is: compile what '--decrypt' makes of it
#| oclcc: warning: e.clbin: program 'reduce' is not built, and its entries are kept: it has no source
#| oclcc: error: 'k.bin' would not be encrypted, but 'e.clbin' is: compile what '--decrypt' makes of it
#| oclcc: error: '--encrypt-key' is for bundles, but 'k.ptx' is not one
#| oclcc: note: to see its contents: oclcc --info e.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: warning: the bundles: program 'reduce' is not built, and its entries are kept: it has no source
#| oclcc: error: 'k.ptx' would not be encrypted, but an input is: compile what '--decrypt' makes of it
