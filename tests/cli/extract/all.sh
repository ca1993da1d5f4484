#!/bin/bash
# Extracts every binary, with the suffix of its kind, and always the sources.
make_bundle sample s.clbin
oclcc --extract s.clbin -o out/new; echo "exit $?"
(cd out/new && find . -type f | LC_ALL=C sort)
cat out/new/matmul.source/matmul.cl
head -c 40 out/new/matmul.default.nvptx_sm_70.ptx; echo
mkdir here
(cd here && oclcc -v --extract ../s.clbin --program matmul --variant fast --keep-target sm_70)
cmp here/matmul.fast.nvptx_sm_70.ptx out/new/matmul.fast.nvptx_sm_70.ptx
oclcc --extract s.clbin --program reduce --drop-target cpu -o - | cmp - out/new/reduce.default.nvptx_sm_80.ptx
# expected output:
#| exit 0
#| ./matmul.default.cpu-a.bin
#| ./matmul.default.nvptx_sm_50.ptx
#| ./matmul.default.nvptx_sm_70.ptx
#| ./matmul.fast.cpu-a.bin
#| ./matmul.fast.nvptx_sm_70.ptx
#| ./matmul.source/matmul.cl
#| ./matmul.source/tile.h
#| ./reduce.default.cpu-b.bin
#| ./reduce.default.nvptx_sm_80.ptx
#| kernel void multiply(global float* a, int n) { a[n] = TILE; }
#| .version 7.5
#| .target sm_70, texmode_inde
# expected errors:
#| matmul.fast.nvptx_sm_70.ptx
