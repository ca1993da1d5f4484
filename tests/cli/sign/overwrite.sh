#!/bin/bash
# An output never replaces the key, the passphrase or the bundle that it is made with.
make_bundle sample s.clbin
echo 'kernel void k(global int* a) { a[get_global_id(0)] = 3; }' > k.cl
echo 'correct horse' > pass
oclcc --keygen k --no-passphrase
oclcc --keygen old --passphrase-file pass
ln -s k.key link
oclcc --sign --key k.key s.clbin -o signed.clbin
tail -c 64 signed.clbin > raw
sha256sum -- * > before
refuses() { "$@"; echo "exit $?"; sha256sum --quiet -c before; }
refuses oclcc --sign --key k.key s.clbin -o k.key
refuses oclcc --sign --key k.key s.clbin -o link
refuses oclcc --sign --key k.key s.clbin -o ./old.key --vouched-by old.key --passphrase-file pass
refuses oclcc --sign --key old.key --passphrase-file pass s.clbin -o pass
refuses oclcc --sign --sign-with 'cat raw' --public-key k.pub s.clbin -o k.pub
refuses oclcc k.cl --source-only --sign-key k.key -o k.key
refuses oclcc k.cl --source-only --sign-key k.key -MD -MF k.key -o k.clbin
refuses oclcc k.cl --source-only --sign-key k.key --embed-header k.key -o k.o
refuses oclcc k.cl --source-only --sign-key old.key --passphrase-file pass -o pass
refuses oclcc k.cl --source-only --sign-with 'cat raw' --public-key k.pub -o k.pub
refuses oclcc s.clbin --target spirv:1.2 --sign-key k.key -o k.key
refuses oclcc s.clbin --target spirv:1.2 --sign-key k.key -MD -MF k.key -o new.clbin
refuses oclcc --sign-message s.clbin -o s.clbin
refuses oclcc --sign --detached --key k.key s.clbin -o s.clbin
refuses oclcc --sign --detached --key k.key s.clbin -o k.key
ln s.clbin signed.clbin.minisig
refuses oclcc --sign --detached --key k.key signed.clbin s.clbin
rm signed.clbin.minisig
ln -s k.key s.clbin.minisig
refuses oclcc --sign --detached --key k.key s.clbin
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
#| before
#| k.cl
#| k.key
#| k.pub
#| link
#| old.key
#| old.pub
#| pass
#| raw
#| s.clbin
#| s.clbin.minisig
#| signed.clbin
# expected errors:
#| oclcc: error: 'k.key' is both an input and the output
#| oclcc: error: 'link' is both an input and the output
#| oclcc: error: './old.key' is both an input and the output
#| oclcc: error: 'pass' is both an input and the output
#| oclcc: error: 'k.pub' is both an input and the output
#| oclcc: error: 'k.key' is both an input and the output
#| oclcc: error: 'k.key' is both an input and the output
#| oclcc: error: 'k.key' is both an input and the output
#| oclcc: error: 'pass' is both an input and the output
#| oclcc: error: 'k.pub' is both an input and the output
#| oclcc: error: 'k.key' is both an input and the output
#| oclcc: note: to see its contents: oclcc --info s.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: error: 'k.key' is both an input and the output
#| oclcc: note: to see its contents: oclcc --info s.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: error: 's.clbin' is both an input and the output
#| oclcc: error: 's.clbin' is both an input and the output
#| oclcc: error: 'k.key' is both an input and the output
#| oclcc: error: 'signed.clbin.minisig' is both an input and the output
#| oclcc: error: 's.clbin.minisig' is both an input and the output
