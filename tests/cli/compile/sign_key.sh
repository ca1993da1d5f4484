#!/bin/bash
# A signed bundle has the same bytes with any -j and by the commands of -###.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
# shellcheck disable=SC2154
device=(--device "${devices%%$'\n'*}")
echo 'kernel void a(global int* p) { p[get_global_id(0)] = 1; }' > a.cl
echo 'kernel void b(global int* p) { p[get_global_id(0)] = 2; }' > b.cl
oclcc --keygen k --no-passphrase
oclcc --no-cache -j1 a.cl b.cl "${device[@]}" --sign-key k.key --counter 2 -o one.clbin; echo "exit $?"
oclcc --no-cache -j2 a.cl b.cl "${device[@]}" --sign-key k.key --counter 2 -o two.clbin && cmp one.clbin two.clbin
# Nothing is taken from the compile cache, which contains all of it.
oclcc a.cl b.cl "${device[@]}" -o unsigned.clbin
oclcc -v a.cl b.cl "${device[@]}" --sign-key k.key --counter 2 -o no_hit.clbin 2>&1 | grep 'cache'
cmp one.clbin no_hit.clbin
oclcc --verify --public-key k.pub --least-counter 2 one.clbin; echo "exit $?"
for output in by_run.clbin e.h; do
  oclcc '-###' a.cl b.cl "${device[@]}" --sign-key k.key --counter 2 -o $output 2>&1 | tail -n +2 > run.sh
  grep -c -- --no-cache run.sh
  sh -e run.sh; echo "exit $?"
  mv $output by_commands
  oclcc a.cl b.cl "${device[@]}" --sign-key k.key --counter 2 -o $output
  cmp by_commands $output
done
oclcc '-###' a.cl "${device[@]}" --sign-with 'cat x' --public-key k.pub -o c.clbin 2>&1 | tail -n +2

# The programs of a signed bundle are built anew: the bundle changes, and so does its signature.
oclcc one.clbin "${device[@]}" -o rebuilt.clbin; echo "exit $?"
oclcc --verify --public-key k.pub rebuilt.clbin; echo "exit $?"
oclcc -q one.clbin "${device[@]}" --sign-key k.key -o rebuilt.clbin; echo "exit $?"
oclcc --verify --public-key k.pub rebuilt.clbin; echo "exit $?"

# A note names what the new signature does not replace.
oclcc --keygen other --no-passphrase
oclcc --strip-signature one.clbin
rebuild() { oclcc signed.clbin "${device[@]}" "$@" -o rebuilt.clbin 2>&1 | grep signatures; echo "rebuilt: $*"; }
oclcc --sign --key k.key one.clbin -o signed.clbin
rebuild --sign-key k.key
rebuild --sign-key k.key --counter 3
rebuild --sign-key other.key
rebuild
oclcc --sign --key k.key --counter 2 one.clbin -o signed.clbin
rebuild --sign-key k.key
rebuild --sign-key k.key --counter 3
oclcc --sign --key k.key --vouched-by other.key one.clbin -o signed.clbin
rebuild --sign-key k.key
oclcc --sign --key other.key one.clbin -o signed.clbin
oclcc --sign --key k.key signed.clbin
rebuild --sign-key k.key
# expected output:
#| exit 0
#| compile cache: off: who can write it must not choose what is signed
#| exit 0
#| 2
#| exit 0
#| 2
#| exit 0
#|  oclcc --device 0:0 --no-cache --program a=a.cl -o c.clbin --sign-with 'cat x' --public-key k.pub
#| exit 0
#| exit 4
#| exit 0
#| exit 0
#| rebuilt: --sign-key k.key
#| rebuilt: --sign-key k.key --counter 3
#| oclcc: note: rebuilt.clbin: other signatures, counters or vouches of the input were removed, because the contents changed
#| rebuilt: --sign-key other.key
#| oclcc: note: rebuilt.clbin: the signatures of the input were removed, because the contents changed: sign it again
#| rebuilt: 
#| oclcc: note: rebuilt.clbin: other signatures, counters or vouches of the input were removed, because the contents changed
#| rebuilt: --sign-key k.key
#| rebuilt: --sign-key k.key --counter 3
#| oclcc: note: rebuilt.clbin: other signatures, counters or vouches of the input were removed, because the contents changed
#| rebuilt: --sign-key k.key
#| oclcc: note: rebuilt.clbin: other signatures, counters or vouches of the input were removed, because the contents changed
#| rebuilt: --sign-key k.key
# expected errors:
#| oclcc: note: rebuilt.clbin: the signatures of the input were removed, because the contents changed: sign it again
#| oclcc: error: rebuilt.clbin: a signature is required, and the bundle has none
