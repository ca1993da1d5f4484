#!/bin/bash
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
