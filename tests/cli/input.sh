#!/bin/bash
# Tests of inputs that are of the wrong kind, or missing.

### binary_file
cp /bin/true true.cl
oclcc true.cl
# expected exit status: 3
# expected errors:
#| oclcc: error: 'true.cl' is not source text: it contains a zero byte at offset 7

### empty_file
: > empty.cl
oclcc empty.cl
# expected exit status: 3
# expected errors:
#| oclcc: error: 'empty.cl' is empty

### folder
mkdir d.cl
oclcc d.cl
# expected exit status: 3
# expected errors:
#| oclcc: error: cannot read 'd.cl': Is a directory

### key_file
# A file of keys or of a signature among the inputs is not compiled, and no message quotes it.
make_bundle sample s.clbin
oclcc --keygen c --key-type content
oclcc --keygen r --key-type recipient
oclcc --keygen m --no-passphrase
oclcc --sign --detached --key m.key s.clbin
tail -n 1 c.key > line.key
sed 's/$/\r/' m.pub > crlf.pub
head -c 90 c.key > cut.key
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
printf '#include "c.key"\nkernel void k(global int* a) { *a = 1; }\n' > includes.cl
for file in c.key r.key r.pub m.key m.pub s.clbin.minisig line.key crlf.pub cut.key; do
  oclcc $file --source-only -o out.clbin; echo "exit $?"
done
oclcc k.cl c.key --source-only -o out.clbin; echo "exit $?"
oclcc - --source-only -o out.clbin < c.key; echo "exit $?"
oclcc -include c.key k.cl --source-only -o out.clbin; echo "exit $?"
oclcc -M c.key; echo "exit $?"
oclcc includes.cl --source-only -o out.clbin > log 2>&1
grep -c 'not source text' log
secret=$(tail -n 1 c.key)
grep -c "${secret:0:20}" log
oclcc --extract out.clbin -o out && grep -rc untrusted out | grep -v ':0$'
true
# expected output:
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| 1
#| 0
# expected errors:
#| oclcc: error: 'c.key' is not source text: it is a content key of clbin
#| oclcc: error: 'r.key' is not source text: it is the secret key of a recipient
#| oclcc: error: 'r.pub' is not source text: it is the public key of a recipient
#| oclcc: error: 'm.key' is not source text: it is a secret key of minisign
#| oclcc: error: 'm.pub' is not source text: it is a public key of minisign
#| oclcc: error: 's.clbin.minisig' is not source text: it is a signature of minisign
#| oclcc: error: 'line.key' is not source text: it is a content key of clbin
#| oclcc: error: 'crlf.pub' is not source text: it is a public key of minisign
#| oclcc: error: 'cut.key' is not source text: it is a damaged file of keys
#| oclcc: error: 'c.key' is not source text: it is a content key of clbin
#| oclcc: error: '-' is not source text: it is a content key of clbin
#| oclcc: error: 'c.key' is not source text: it is a content key of clbin
#| oclcc: error: 'c.key' is not source text: it is a content key of clbin

### missing_forced_include
echo 'kernel void k() {}' > k.cl
oclcc -include none.h k.cl
# expected exit status: 3
# expected errors:
#| oclcc: error: cannot open 'none.h', which '-include' names: No such file or directory

### no_input
oclcc
# expected exit status: 2
# expected errors:
#| oclcc: error: no input file; 'oclcc --help' lists the common options

### no_such_file
oclcc none.cl; echo "exit $?"
oclcc one.cl two.cl -o out.clbin; echo "exit $?"
ls
# expected output:
#| exit 3
#| exit 3
# expected errors:
#| oclcc: error: cannot open 'none.cl': No such file or directory
#| oclcc: error: cannot open 'one.cl': No such file or directory
#| oclcc: error: cannot open 'two.cl': No such file or directory

### same_stem
mkdir a b
echo 'kernel void k() {}' | tee a/k.cl > b/k.cl
oclcc a/k.cl b/k.cl -o x.clbin; echo "exit $?"
oclcc --program k=a/k.cl b/k.cl -o x.clbin
# expected exit status: 2
# expected output:
#| exit 2
# expected errors:
#| oclcc: error: 'a/k.cl' and 'b/k.cl' would both be program 'k'; name one of them with '--program NAME=FILE'
#| oclcc: error: 'a/k.cl' and 'b/k.cl' would both be program 'k'; name one of them with '--program NAME=FILE'

### unreadable
echo 'kernel void k() {}' > k.cl
chmod 0 k.cl
oclcc=(oclcc)
if [ "$(id -u)" = 0 ]; then
  # Root can read every file, so this runs as another user.
  chmod a+rx . .. ../bin
  oclcc=(setpriv --reuid=65534 --regid=65534 --clear-groups oclcc)
  "${oclcc[@]}" --version > /dev/null || { echo "no other user can start oclcc"; exit 77; }
fi
"${oclcc[@]}" k.cl
# expected exit status: 3
# expected errors:
#| oclcc: error: cannot open 'k.cl': Permission denied

### wrong_kind
# A source instead of a bundle, and a bundle instead of a source: a note explains what to do.
make_bundle sample 'my k.clbin'
cp 'my k.clbin' k.clbin
printf 'kernel\nvoid k() {}' > 'k 1.cl'
cp 'k 1.cl' k.txt
try() {
  oclcc "$@"
  echo "exit $?"
}
for mode in --info --explain --verify --extract --repack '--strip --strip-source' '--merge -o m.clbin' '--diff k.clbin'; do
  # shellcheck disable=SC2086 # words
  try $mode 'k 1.cl'
done
try --info none.clbin k.txt k.clbin --json | grep '"message"'
echo 'about kernel code' > readme.txt
printf 'kernel void k() {}\0' > binary
: > empty.cl
try --info readme.txt binary empty.cl
try --info -q k.txt
try 'my k.clbin'
try -M k.clbin -DX
try k.clbin k.txt -o all.clbin
try k.clbin -o k.o --specialize k=4
try k.clbin -o k.hpp -DX --no-source
try k.clbin --emit h -O2
try k.clbin -o k.o -fsyntax-only
try '-###' k.clbin -o k.hpp
try --verify --device gpu k.clbin
try k.txt -o k.ptx --no-source
try k.txt -o k.hpp --emit-cubin
ls
# expected output:
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#| exit 4
#|           "message": "cannot open 'none.clbin': No such file or directory"
#|           "message": "k.txt: not a bundle: it starts with 6b 65 72 6e 65 6c 0a 76"
#| exit 4
#| exit 4
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
#| binary
#| empty.cl
#| k 1.cl
#| k.clbin
#| k.txt
#| my k.clbin
#| readme.txt
# expected errors:
#| oclcc: error: k 1.cl: not a bundle: it starts with 6b 65 72 6e 65 6c 0a 76
#| oclcc: note: 'k 1.cl' looks like OpenCL source: compile it first: oclcc 'k 1.cl'
#| oclcc: error: k 1.cl: not a bundle: it starts with 6b 65 72 6e 65 6c 0a 76
#| oclcc: note: 'k 1.cl' looks like OpenCL source: compile it first: oclcc 'k 1.cl'
#| oclcc: error: k 1.cl: not a bundle: it starts with 6b 65 72 6e 65 6c 0a 76
#| oclcc: note: 'k 1.cl' looks like OpenCL source: compile it first: oclcc 'k 1.cl'
#| oclcc: error: k 1.cl: not a bundle: it starts with 6b 65 72 6e 65 6c 0a 76
#| oclcc: note: 'k 1.cl' looks like OpenCL source: compile it first: oclcc 'k 1.cl'
#| oclcc: error: k 1.cl: not a bundle: it starts with 6b 65 72 6e 65 6c 0a 76
#| oclcc: note: 'k 1.cl' looks like OpenCL source: compile it first: oclcc 'k 1.cl'
#| oclcc: error: k 1.cl: not a bundle: it starts with 6b 65 72 6e 65 6c 0a 76
#| oclcc: note: 'k 1.cl' looks like OpenCL source: compile it first: oclcc 'k 1.cl'
#| oclcc: error: k 1.cl: not a bundle: it starts with 6b 65 72 6e 65 6c 0a 76
#| oclcc: note: 'k 1.cl' looks like OpenCL source: compile it first: oclcc 'k 1.cl'
#| oclcc: error: k 1.cl: not a bundle: it starts with 6b 65 72 6e 65 6c 0a 76
#| oclcc: note: 'k 1.cl' looks like OpenCL source: compile it first: oclcc 'k 1.cl'
#| oclcc: error: cannot open 'none.clbin': No such file or directory
#| oclcc: error: k.txt: not a bundle: it starts with 6b 65 72 6e 65 6c 0a 76
#| oclcc: note: 'k.txt' looks like OpenCL source: compile it first: oclcc k.txt
#| oclcc: error: readme.txt: not a bundle: it starts with 61 62 6f 75 74 20 6b 65
#| oclcc: error: binary: not a bundle: it starts with 6b 65 72 6e 65 6c 20 76
#| oclcc: error: empty.cl: not a bundle: it is empty
#| oclcc: note: 'empty.cl' looks like OpenCL source: compile it first: oclcc empty.cl
#| oclcc: error: k.txt: not a bundle: it starts with 6b 65 72 6e 65 6c 0a 76
#| oclcc: error: 'my k.clbin' is a bundle: name the output with '-o'; it may be the bundle itself
#| oclcc: note: to see its contents: oclcc --info 'my k.clbin'; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: error: '-M' cannot be used with 'k.clbin', which is a bundle: its programs are built as they were recorded
#| oclcc: note: to see its contents: oclcc --info k.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: error: 'k.clbin' is a bundle, and 'k.txt' is not: compile the other inputs without the bundle, and merge both results
#| oclcc: note: to see its contents: oclcc --info k.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: error: '--specialize' cannot be used with 'k.clbin', which is a bundle: nothing is compiled
#| oclcc: error: '-D' cannot be used with 'k.clbin', which is a bundle: nothing is compiled
#| oclcc: error: '-O2' cannot be used with 'k.clbin', which is a bundle: nothing is compiled
#| oclcc: error: '-fsyntax-only' cannot be used with 'k.clbin', which is a bundle: nothing is compiled
#| oclcc: error: '-###' cannot be used with 'k.clbin', which is a bundle: nothing is compiled
#| oclcc: error: '--device' needs '--run'
#| oclcc: error: '--no-source' is for bundles, but 'k.ptx' is not one
#| oclcc: error: '--emit-cubin' is for bundles, but 'k.hpp' is not one
