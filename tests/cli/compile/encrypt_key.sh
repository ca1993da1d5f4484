#!/bin/bash
# An encrypted bundle has the same bytes in any folder, with any -j and by the commands of -###. A
# compile of an encrypted bundle encrypts its output.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
# shellcheck disable=SC2154
device=(--device "${devices%%$'\n'*}")
echo 'kernel void a(global int* p) { p[get_global_id(0)] = 1; }' > a.cl
echo 'kernel void b(global int* p) { p[get_global_id(0)] = 2; }' > b.cl
for name in c d; do oclcc --keygen $name --key-type content; done
oclcc --keygen r --key-type recipient
oclcc --keygen k --no-passphrase
oclcc --no-cache a.cl b.cl "${device[@]}" -o plain.clbin
oclcc --encrypt --encrypt-key c.key plain.clbin -o encrypted.clbin
oclcc -j1 a.cl b.cl "${device[@]}" --encrypt-key c.key -o one.clbin; echo "exit $?"
cmp one.clbin encrypted.clbin && echo 'as by --encrypt'
oclcc -j2 a.cl b.cl "${device[@]}" --encrypt-key c.key -o two.clbin && cmp one.clbin two.clbin
mkdir -p another/place
cp a.cl b.cl another/place
(cd another/place && oclcc b.cl a.cl "${device[@]}" --encrypt-key ../../c.key -o two.clbin) && cmp one.clbin another/place/two.clbin
oclcc a.cl b.cl "${device[@]}" --encrypt-for r.pub -o for.clbin && oclcc --decrypt --decrypt-key r.key for.clbin && cmp for.clbin plain.clbin && echo 'for a recipient'

echo "== nothing from or into the compile cache"
find "$XDG_CACHE_HOME" -type f | wc -l
oclcc a.cl b.cl "${device[@]}" -o cached.clbin
find "$XDG_CACHE_HOME" -type f -exec sha256sum {} + > cache_before
oclcc -v a.cl b.cl "${device[@]}" --encrypt-key c.key -o no_hit.clbin 2>&1 | grep cache
cmp one.clbin no_hit.clbin
sha256sum --quiet -c cache_before

echo "== by the commands of -###"
for output in by_run.clbin e.h; do
  for words in '--encrypt-key c.key --sign-key k.key' '--encrypt-key c.key' '--encrypt-key c.key --encrypt-for r.pub' '--encrypt-for r.pub'; do
    # shellcheck disable=SC2086
    oclcc '-###' a.cl b.cl "${device[@]}" $words -o $output 2>&1 | tail -n +2 > run.sh
    grep -c -- --no-cache run.sh
    rm -f ./by_run*.clbin ./e*.clbin
    sh -e run.sh; echo "exit $?"
    mv $output by_commands
    # shellcheck disable=SC2086
    oclcc a.cl b.cl "${device[@]}" $words -o $output
    case $words in
    *encrypt-for*) [ $output = e.h ] || { oclcc --decrypt --decrypt-key r.key by_commands && cmp by_commands plain.clbin; } ;;
    *) cmp by_commands $output ;;
    esac
  done
done

echo "== --keep-going"
echo 'kernel void bad(global int* a) { *a = x; }' > bad.cl
oclcc a.cl bad.cl "${device[@]}" --encrypt-key c.key -o both.clbin 2> /dev/null; echo "exit $?"
[ -e both.clbin ] || echo 'nothing is written'
oclcc --keep-going a.cl bad.cl "${device[@]}" --encrypt-key c.key -o both.clbin 2> /dev/null; echo "exit $?"
oclcc --verify both.clbin; echo "exit $?"
oclcc --verify --decrypt-key c.key both.clbin; echo "exit $?"

echo "== a compile of an encrypted bundle"
oclcc a.cl --source-only -o a.clbin
oclcc b.cl --source-only -o b.clbin
oclcc a.clbin "${device[@]}" -o built.clbin
for name in a b; do oclcc --encrypt --encrypt-key c.key $name.clbin -o ${name}c.clbin; done
oclcc --encrypt --encrypt-key d.key b.clbin -o bd.clbin
cp ac.clbin before.clbin
oclcc ac.clbin "${device[@]}" -o ac.clbin; echo "exit $?"
cmp ac.clbin before.clbin && echo 'not written without its key'
find "$XDG_CACHE_HOME" -type f -exec sha256sum {} + > cache_before
oclcc -v ac.clbin "${device[@]}" --decrypt-key c.key -o ac.clbin 2>&1 | grep cache
sha256sum --quiet -c cache_before
find "$XDG_CACHE_HOME" -type f | wc -l | cmp - <(wc -l < cache_before)
oclcc --encrypt --encrypt-key c.key built.clbin -o expected.clbin && cmp ac.clbin expected.clbin && echo 'encrypted as before'
oclcc before.clbin "${device[@]}" --decrypt-key c.key --encrypt-key d.key --sign-key k.key -o x.clbin; echo "exit $?"
oclcc --verify --public-key k.pub --decrypt-key d.key x.clbin; echo "exit $?"
oclcc --decrypt --decrypt-key d.key x.clbin && cmp x.clbin built.clbin && echo 'encrypted anew'
oclcc a.clbin bc.clbin "${device[@]}" --decrypt-key c.key -o x.clbin; echo "exit $?"
oclcc a.clbin b.clbin "${device[@]}" --encrypt-key c.key -o y.clbin && cmp x.clbin y.clbin && echo 'never plain by accident'
oclcc before.clbin bd.clbin "${device[@]}" --decrypt-key c.key --decrypt-key d.key -o z.clbin; echo "exit $?"
oclcc before.clbin bd.clbin "${device[@]}" --decrypt-key c.key --decrypt-key d.key --encrypt-key c.key -o z.clbin; echo "exit $?"
cmp z.clbin y.clbin
oclcc before.clbin "${device[@]}" --decrypt-key c.key --no-source -o x.clbin; echo "exit $?"
oclcc a.clbin "${device[@]}" --no-source -o y.clbin && oclcc --decrypt --decrypt-key c.key x.clbin && cmp x.clbin y.clbin
oclcc before.clbin "${device[@]}" --decrypt-key c.key -o x.bin; echo "exit $?"
[ -e x.bin ] || echo 'no device binary'
oclcc before.clbin "${device[@]}" --decrypt-key c.key --encrypt-key c.key -o z.bin; echo "exit $?"
oclcc --explain "${device[@]}" --decrypt-key c.key expected.clbin | tail -n +2 | diff - <(oclcc --explain "${device[@]}" built.clbin | tail -n +2) && echo 'explained'
oclcc --verify --run "${device[@]}" --decrypt-key c.key expected.clbin; echo "exit $?"
oclcc --verify --run "${device[@]}" expected.clbin; echo "exit $?"
# expected output:
#| exit 0
#| as by --encrypt
#| for a recipient
#| == nothing from or into the compile cache
#| 0
#| compile cache: off: it would contain the kernels of an encrypted bundle
#| == by the commands of -###
#| 2
#| exit 0
#| 2
#| exit 0
#| 2
#| exit 0
#| 2
#| exit 0
#| 2
#| exit 0
#| 2
#| exit 0
#| 2
#| exit 0
#| 2
#| exit 0
#| == --keep-going
#| exit 1
#| nothing is written
#| exit 1
#| exit 0
#| exit 0
#| == a compile of an encrypted bundle
#| exit 4
#| not written without its key
#| compile cache: off: it would contain the kernels of an encrypted bundle
#| encrypted as before
#| exit 0
#| exit 0
#| encrypted anew
#| exit 0
#| never plain by accident
#| exit 2
#| exit 0
#| exit 0
#| exit 2
#| no device binary
#| exit 2
#| explained
#| exit 0
#| exit 4
# expected errors:
#| oclcc: warning: both.clbin: its contents were not checked, because it is encrypted: name its key with '--decrypt-key'
#| oclcc: error: ac.clbin: it is encrypted: name its key with '--decrypt-key'
#| oclcc: note: x.clbin: the signatures of the input were removed, because the contents changed: sign it again
#| oclcc: note: x.clbin: encrypted with the key of bc.clbin: whoever can open bc.clbin can also read what comes from a.clbin, which is plain; '--encrypt-key' or '--encrypt-for' choose another key
#| oclcc: error: before.clbin and bd.clbin are encrypted with different content keys: choose that of the output with '--encrypt-key' or '--encrypt-for'
#| oclcc: error: 'x.bin' would not be encrypted, but 'before.clbin' is: compile what '--decrypt' makes of it
#| oclcc: error: '--encrypt-key' is for bundles, but 'z.bin' is not one
#| oclcc: note: to see its contents: oclcc --info before.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: error: expected.clbin: it is encrypted: name its key with '--decrypt-key'
