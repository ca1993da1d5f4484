#!/bin/bash
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
