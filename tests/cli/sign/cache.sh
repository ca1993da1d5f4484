#!/bin/bash
# A signed output contains nothing of the compile cache. Otherwise, whoever can write the cache
# would choose what is signed.
export NO_COLOR=1
oclcc --keygen k --no-passphrase
mkdir good evil
echo 'kernel void k(global int* a) { a[0] = 3; }' > good/k.cl
echo 'kernel void k(global int* a) { a[0] = 666; }' > evil/k.cl
bundles() { find "$XDG_CACHE_HOME" -name '*.bundle'; }
oclcc good/k.cl --source-only -o good.clbin
good=$(bundles)
oclcc evil/k.cl --source-only -o evil.clbin
# Under the name of another key, an entry needs the digest that precedes it: who can write the cache
# can compute it, too.
python3 - "$good" evil.clbin << 'END_OF_PYTHON'
import hashlib
import os
import sys

entry, bundle = sys.argv[1], open(sys.argv[2], "rb").read()
key = bytes.fromhex(os.path.splitext(os.path.basename(entry))[0])
label = b"clbin-cache-bundle-1"
seal = hashlib.blake2b(len(label).to_bytes(8, "little") + label + key + bundle, digest_size=32).digest()
open(entry, "wb").write(seal + bundle)
END_OF_PYTHON
oclcc good/k.cl --source-only -o k.clbin
cmp k.clbin evil.clbin && echo 'the cache is poisoned'

oclcc --sign --key k.key good.clbin -o signed.clbin
tail -c 64 signed.clbin > raw
oclcc -v good/k.cl --source-only --sign-key k.key -o key.clbin 2>&1 | grep -i 'cache'
cmp key.clbin signed.clbin && echo 'signed by a key, but not from the cache'
oclcc -v good/k.cl --source-only --sign-with 'cat raw' --public-key k.pub -o command.clbin 2>&1 | grep -i 'cache'
cmp command.clbin signed.clbin && echo 'signed by a command, but not from the cache'
oclcc -v good/k.cl --source-only --no-cache --sign-key k.key -o key.clbin 2>&1 | grep -i 'cache'

# It stores nothing, either.
oclcc --clear-cache
oclcc good/k.cl --source-only --sign-key k.key -o key.clbin
bundles
# expected output:
#| the cache is poisoned
#| compile cache: off: who can write it must not choose what is signed
#| signed by a key, but not from the cache
#| compile cache: off: who can write it must not choose what is signed
#| signed by a command, but not from the cache
#| compile cache: off: --no-cache was given
