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
# expected output:
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
#| exit 2
#| exit 2
#| exit 2
#| exit 3
#| exit 3
#| exit 2
#| exit 4
#| exit 4
#| exit 3
#| exit 3
#| exit 3
#| exit 2
#| exit 4
#| cut.clbin
#| folder.hpp
#| folder.o
#| k.clbin
# expected errors:
#| oclcc: error: '--device' cannot be used with 'k.clbin', which is a bundle: nothing is compiled
#| oclcc: error: 'k.clbin' is a bundle: name the output with '-o'; it may be the bundle itself
#| oclcc: note: to see its contents: oclcc --info k.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: error: '--program' cannot be used with 'k.clbin', which is a bundle: nothing is compiled
#| oclcc: error: 'k.clbin' is a bundle, and only one bundle can be embedded; see --merge
#| oclcc: error: '--symbol 2fast': not an identifier in C
#| oclcc: error: '--symbol int': a keyword of C or C++
#| oclcc: error: '--symbol constexpr': a keyword of C or C++
#| oclcc: error: '--symbol _Kernels': names like this are reserved for C compilers
#| oclcc: error: '--host-triple vax-dec-ultrix': unknown architecture 'vax'; known are x86_64, amd64, i386, i486, i586, i686, aarch64, arm64, aarch64_be, arm, armv6, armv7, armv7a, armv7l, riscv64, powerpc64le, ppc64le, s390x, loongarch64
#| oclcc: error: '--host-triple aarch64-apple-darwin': object files of 'darwin' are not ELF; embed with -o k.c
#| oclcc: error: '--host-triple' is for object files and assembly; 'k.h' is for every machine
#| oclcc: error: 'k.h' is itself a header: omit '--embed-header'
#| oclcc: error: 'k.o' is both the output and its header
#| oclcc: error: 'k.clbin' is both an input and the output
#| oclcc: error: cannot write 'none/k.o': No such file or directory
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: '--symbol' is for embedded bundles (-o k.h, k.c, k.o or k.s), but 'k.clbin' is not one
#| oclcc: error: cut.clbin: prefix: total_bytes is *, but only 200 bytes are present
#| oclcc: error: cut.clbin: prefix: total_bytes is *, but only 200 bytes are present
#| oclcc: error: cannot write 'folder.o': Is a directory
#| oclcc: error: cannot write 'folder.hpp': Is a directory
#| oclcc: error: cannot read 'folder.o': Is a directory
#| oclcc: error: 'k.clbin' is both an input and the output
#| oclcc: error: k.clbin: page 0 of GROUP: its digest does not match: it was changed
