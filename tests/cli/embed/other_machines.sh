#!/bin/bash
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
