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
