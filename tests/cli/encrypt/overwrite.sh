#!/bin/bash
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
