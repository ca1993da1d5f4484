#!/bin/bash
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
