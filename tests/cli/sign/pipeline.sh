#!/bin/bash
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
