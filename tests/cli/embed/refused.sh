#!/bin/bash
make_bundle sample k.clbin
try() {
  oclcc "$@"
  echo "exit $?"
}
try k.clbin -o k.h --device gpu
try k.clbin
try k.clbin k.clbin --program a=k.clbin -o k.o
try k.clbin k.clbin -o k.o
try k.clbin -o k.o --symbol 2fast
try k.clbin -o k.o --symbol int
try k.clbin -o k.o --symbol constexpr
try k.clbin -o k.o --symbol _Kernels
try k.clbin -o k.o --host-triple vax-dec-ultrix
try k.clbin -o k.o --host-triple aarch64-apple-darwin
try k.clbin -o k.h --host-triple aarch64-linux-gnu
try k.clbin -o k.h --embed-header l.h
try k.clbin -o k.o --embed-header k.o
try k.clbin -o k.o --embed-header k.clbin
try k.clbin -o none/k.o
try missing.clbin -o k.o
try k.cl -o k.clbin --symbol k
head -c 200 k.clbin > cut.clbin
try cut.clbin -o k.o
try cut.clbin -o k.hpp
mkdir folder.o folder.hpp
try k.clbin -o folder.o
try k.clbin -o folder.hpp
try folder.o -o k.o
try k.clbin --emit hpp -o k.clbin
printf 'X' | dd of=k.clbin bs=1 seek=600 conv=notrunc status=none
try k.clbin -o k.o
ls -A
