#!/bin/bash
# Tests of embedded bundles.

### every_form
# Each form contains the exact bytes of the bundle, 8-byte aligned, in C99 and in C++ programs.
set -e
make_bundle sample k.clbin
for form in h c s o; do oclcc k.clbin -o "k.$form"; done
oclcc k.clbin -o declared.o --symbol k_clbin --embed-header declared.h
cat > main.c <<'END'
#include HEADER
#include <stdint.h>
#include <stdio.h>
int main(void) {
  FILE* file = fopen("k.clbin", "rb");
  size_t i = 0;
  while (i < k_clbin_size && fgetc(file) == k_clbin[i]) {
    ++i;
  }
  const int whole = i == k_clbin_size && fgetc(file) == EOF;
  puts(whole && (uintptr_t)(const void*)k_clbin % 8 == 0 ? "same bytes" : "DIFFERENT");
  return fclose(file);
}
END
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Werror)
build_and_run() {
  echo "$*"
  "$@" -o program
  ./program
}
for form in c s o; do
  build_and_run gcc -std=c99 "${warnings[@]}" -DHEADER='"declared.h"' main.c "k.$form"
done
build_and_run gcc -std=c99 "${warnings[@]}" -DHEADER='"k.h"' main.c
build_and_run gcc -std=c11 "${warnings[@]}" -DHEADER='"k.h"' main.c
build_and_run g++ -std=c++11 "${warnings[@]}" -DHEADER='"k.h"' -x c++ main.c
build_and_run g++ -std=c++11 "${warnings[@]}" -DHEADER='"declared.h"' -x c++ main.c k.c
cmp declared.o k.o && echo "the same object"
# An object without a .note.GNU-stack section would make the stack executable.
gcc -std=c99 -DHEADER='"declared.h"' main.c k.o -o program -Wl,--fatal-warnings
readelf --segments --wide program | grep -c 'GNU_STACK.* RW '
readelf --symbols --wide k.o | awk '/k_clbin/ {print $4, $5, $8}'
readelf --sections --wide k.o | awk '/ .rodata/ {print $9, $12}'
# expected output:
#| gcc -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror -DHEADER="declared.h" main.c k.c
#| same bytes
#| gcc -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror -DHEADER="declared.h" main.c k.s
#| same bytes
#| gcc -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror -DHEADER="declared.h" main.c k.o
#| same bytes
#| gcc -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror -DHEADER="k.h" main.c
#| same bytes
#| gcc -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror -DHEADER="k.h" main.c
#| same bytes
#| g++ -std=c++11 -Wall -Wextra -Wpedantic -Wconversion -Werror -DHEADER="k.h" -x c++ main.c
#| same bytes
#| g++ -std=c++11 -Wall -Wextra -Wpedantic -Wconversion -Werror -DHEADER="declared.h" -x c++ main.c k.c
#| same bytes
#| the same object
#| 1
#| OBJECT GLOBAL k_clbin
#| OBJECT GLOBAL k_clbin_size
#| A 8

### names
# The name of the symbol depends on the output's name, and the bytes depend on nothing else.
set -e
make_bundle sample k.clbin
for name in my-kernels.o 3d.o _x.o 'ä b.o' mat.mul.o; do
  oclcc k.clbin -o "$name"
  readelf --symbols --wide "$name" | awk '/_clbin$/ {print $8}'
done
oclcc k.clbin -o k.o
cp k.o first.o
mkdir folder
cd folder
oclcc ../k.clbin -o k.o
cmp k.o ../first.o && echo same
# expected output:
#| my_kernels_clbin
#| k3d_clbin
#| k_x_clbin
#| k___b_clbin
#| mat_mul_clbin
#| same

### other_machines
# The ELF header for each machine is the same as that of an object that clang compiles for it.
set -e
make_bundle sample k.clbin
for triple in x86_64-linux-gnu i686-linux-gnu aarch64-linux-gnu aarch64_be-linux-gnu \
  armv7-linux-gnueabihf riscv64-linux-gnu powerpc64le-linux-gnu s390x-linux-gnu; do
  oclcc k.clbin -o k.o --host-triple "$triple"
  oclcc k.clbin -o k.s --host-triple "$triple"
  llvm-readobj --file-header --sections --symbols k.o > ours
  if ! clang --target="$triple" -c k.s -o clang.o 2> /dev/null; then
    echo "$triple: clang does not know it"
    continue
  fi
  llvm-readobj --file-header clang.o > theirs
  for field in Format Arch Type Machine; do
    diff <(grep "^ *$field:" ours | head -n 1) <(grep "^ *$field:" theirs | head -n 1)
  done
  grep -A1 'Name: k_clbin' ours | tr -s ' \n' ' '
  echo "$triple"
done
# expected output:
#|  Name: k_clbin (1) Value: 0x0 -- Name: k_clbin_size (9) Value: 0x* x86_64-linux-gnu
#|  Name: k_clbin (1) Value: 0x0 -- Name: k_clbin_size (9) Value: 0x* i686-linux-gnu
#|  Name: k_clbin (1) Value: 0x0 -- Name: k_clbin_size (9) Value: 0x* aarch64-linux-gnu
#|  Name: k_clbin (1) Value: 0x0 -- Name: k_clbin_size (9) Value: 0x* aarch64_be-linux-gnu
#|  Name: k_clbin (1) Value: 0x0 -- Name: k_clbin_size (9) Value: 0x* armv7-linux-gnueabihf
#|  Name: k_clbin (1) Value: 0x0 -- Name: k_clbin_size (9) Value: 0x* riscv64-linux-gnu
#|  Name: k_clbin (1) Value: 0x0 -- Name: k_clbin_size (9) Value: 0x* powerpc64le-linux-gnu
#|  Name: k_clbin (1) Value: 0x0 -- Name: k_clbin_size (9) Value: 0x* s390x-linux-gnu

### refused
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

### rule
# With a bundle as input, -MD writes a rule for make and ninja that names it, and only with the
# output.
make_bundle sample k.clbin
oclcc k.clbin -o k.o -MD && cat k.d
oclcc k.clbin -o k.h -MD -MP -MF rule.d -MT k.h -MT 'more' && cat rule.d
cp k.clbin 'a b.clbin'
mkdir other && cp k.clbin other
oclcc k.clbin other/k.clbin 'a b.clbin' -o k.hpp -MMD -MF - # bundles may have the same name
rm k.d k.o
head -c 200 k.clbin > cut.clbin
oclcc cut.clbin -o k.o -MD; echo "exit $?"
oclcc k.clbin -o k.o -MD -MF k.clbin; echo "exit $?"
oclcc k.clbin -o k.o -MD -MF no/such/folder/k.d; echo "exit $?"
ls k.o k.d 2>&1
cmp k.clbin 'a b.clbin' && echo "the bundle is as it was"
printf 'k.o: k.clbin\n\toclcc $< -o $@ -MD\n-include k.d\n' > Makefile
make --silent && make --question && echo "up to date"
until touch k.clbin && [ k.clbin -nt k.o ]; do sleep 0.01; done
make --question || echo "a new bundle is seen"
# expected output:
#| k.o: k.clbin
#| k.h more: k.clbin
#| k.hpp: k.clbin other/k.clbin a\ b.clbin
#| exit 4
#| exit 2
#| exit 3
#| ls: cannot access 'k.o': No such file or directory
#| ls: cannot access 'k.d': No such file or directory
#| the bundle is as it was
#| up to date
#| a new bundle is seen
# expected errors:
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 200 bytes are present
#| oclcc: error: 'k.clbin' is both an input and the output
#| oclcc: error: cannot write 'no/such/folder/k.d': No such file or directory
