#!/bin/bash
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
