#!/bin/bash
# Signatures in the modes that make bundles.

### compile
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

### cache
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

### pipeline
# The pipeline of oclcc-signing(7), "From the keys to the product", works as printed.
library=$(realpath "$(dirname "$(readlink -f "$(command -v oclcc)")")/../libclbin/libclbin.so")
[ -e "$library" ] || { echo "libclbin.so is not built"; exit 77; }
cc() {
  command cc "-I$ROOT/libclbin/include" "-I$(dirname "$library")/include" "-L$(dirname "$library")" "-Wl,-rpath,$(dirname "$library")" "$@"
}
awk '/^\.Ss From the keys to the product/ {inside = 1} /^\.Sh ENCRYPTION/ {inside = 0}
     inside && /^\.Ed/ {block = 0} block {gsub(/\\e/, "\\"); print > ("block" number)}
     inside && /^\.Bd -literal/ {block = 1; ++number}' "$ROOT/man/oclcc-signing.7"
wc -l block*
cp block3 app.c
echo 'kernel void k(global float* p) { *p = 1; }' > kernel.cl
echo 'correct horse' > passphrase
# shellcheck source=/dev/null
source block1; echo "exit $?"
sed 's/^oclcc kernel.cl/oclcc kernel.cl --source-only/' block2 > commands
# shellcheck source=/dev/null
source commands; echo "exit $?"
./app; echo "exit $?"
oclcc --verify kernel.clbin; echo "exit $?"
mv content.key hidden.key; ./app; echo "exit $?"
oclcc --keygen content --key-type content; ./app; echo "exit $?"
mv hidden.key content.key; ./app; echo "exit $?"
sed 's/least_counter = 3/least_counter = 4/' block3 > app.c
cc -DKEY="\"$(tail -n 1 product.pub)\"" app.c -o newer -lclbin && ./newer; echo "exit $?"
oclcc --strip-signature kernel.clbin; ./app; echo "exit $?"
oclcc --keygen other --no-passphrase
oclcc --sign --key other.key --counter 3 kernel.clbin; ./app; echo "exit $?"
# expected output:
#|    2 block1
#|    6 block2
#|   29 block3
#|   37 total
#| exit 0
#| exit 0
#| exit 0
#| exit 0
#| exit 39
#| exit 64
#| exit 0
#| exit 63
#| exit 60
#| exit 61
# expected errors:
#| oclcc: warning: kernel.clbin: its contents were not checked, because it is encrypted: name its key with '--decrypt-key'
#| oclcc: warning: kernel.clbin: its contents were not checked, because it is encrypted: name its key with '--decrypt-key'

### removed
# Modes that change a bundle remove its signatures, and a note says so.
make_bundle sample s.clbin
oclcc --strip --drop-target cpu s.clbin -o stripped.clbin
oclcc --keygen k --no-passphrase
oclcc --sign --key k.key --counter 2 s.clbin
oclcc --strip --drop-target cpu s.clbin -o b.clbin; echo "exit $?"
cmp b.clbin stripped.clbin && echo 'the same without the signature'
oclcc --repack s.clbin -o b.clbin; echo "exit $?"
oclcc --merge s.clbin stripped.clbin -o b.clbin; echo "exit $?"
oclcc -q --merge s.clbin stripped.clbin -o b.clbin; echo "exit $?"
oclcc --repack --json s.clbin -o b.clbin | tee report | grep -o '"removed_signatures": *[0-9]*'
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/change.schema.json" < report
oclcc --repack b.clbin; echo "exit $?"
cp s.clbin t.clbin
oclcc --strip-signature --json t.clbin | grep -o '"removed_signatures": *[0-9]*'
oclcc --extract s.clbin -o folder && oclcc --diff s.clbin t.clbin && echo 'the same contents'
oclcc s.clbin -o k.o && echo 'embedded with its signature'
python3 -c 'assert open("s.clbin", "rb").read() in open("k.o", "rb").read()'
# expected output:
#| exit 0
#| the same without the signature
#| exit 0
#| exit 0
#| exit 0
#| "removed_signatures": 2
#| fits the schema
#| exit 0
#| "removed_signatures": 2
#| the same contents
#| embedded with its signature
# expected errors:
#| oclcc: note: b.clbin: the signatures of the input were removed, because the contents changed: sign it again
#| oclcc: note: b.clbin: the signatures of the input were removed, because the contents changed: sign it again
#| oclcc: note: b.clbin: the signatures of the input were removed, because the contents changed: sign it again
