#!/bin/bash
# --sign-key signs what a compile writes, with the same bytes as --sign.
echo 'kernel void k(global int* a) { a[get_global_id(0)] = 3; }' > k.cl
oclcc --keygen k --no-passphrase
oclcc k.cl --source-only -o unsigned.clbin
oclcc k.cl --source-only --sign-key k.key --counter 4; echo "exit $?"
oclcc --verify --public-key k.pub --least-counter 4 k.clbin; echo "exit $?"
oclcc --sign --key k.key --counter 4 unsigned.clbin -o signed.clbin && cmp signed.clbin k.clbin && echo 'the same bytes'
oclcc --strip-signature signed.clbin && cmp signed.clbin unsigned.clbin && echo 'the same without signature'

# Embedded.
oclcc k.cl --source-only --sign-key k.key --counter 4 -o k.o --embed-header k.h; echo "exit $?"
python3 -c 'assert open("k.clbin", "rb").read() in open("k.o", "rb").read(); print("k.o contains k.clbin")'
oclcc k.clbin -o converted.o --symbol k_clbin && cmp converted.o k.o && echo 'the same object file'

# With a command, which fails.
oclcc k.cl --source-only --sign-with 'exit 3' --public-key k.pub -o never.clbin -MD; echo "exit $?"
oclcc k.cl --source-only --sign-key missing.key -o never.clbin -MD; echo "exit $?"
oclcc k.cl --source-only --sign-key k.pub -o never.clbin; echo "exit $?"
oclcc k.cl --source-only --sign-key k.key -o k.hpp; echo "exit $?"
oclcc k.clbin --sign-key k.key -o k.s; echo "exit $?"
oclcc k.cl --sign-with x -o never.clbin; echo "exit $?"
oclcc k.cl --counter 3 -o never.clbin; echo "exit $?"
ls
# expected output:
#| exit 0
#| exit 0
#| the same bytes
#| the same without signature
#| exit 0
#| k.o contains k.clbin
#| the same object file
#| exit 3
#| exit 3
#| exit 3
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| converted.o
#| k.cl
#| k.clbin
#| k.h
#| k.key
#| k.o
#| k.pub
#| signed.clbin
#| unsigned.clbin
# expected errors:
#| oclcc: error: the command of '--sign-with' failed with exit status 3
#| oclcc: error: cannot open 'missing.key': No such file or directory
#| oclcc: error: 'k.pub': not a secret key of minisign: it is a public key of minisign
#| oclcc: error: '--source-only' is for bundles, but 'k.hpp' is not one
#| oclcc: error: '--sign-key' cannot be used with 'k.clbin', which is a bundle: nothing is compiled
#| oclcc: error: '--sign-with' needs one '--public-key'
#| oclcc: error: '--counter' needs '--sign-key' or '--sign-with'
