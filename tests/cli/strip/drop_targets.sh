#!/bin/bash
# Removes entries by pattern. The result is a valid bundle.
make_bundle sample s.clbin
left() { oclcc --info "$1" | grep -E "^program|^    (target|device)" ; }
oclcc --strip --drop-target "nvptx:*" s.clbin -o b.clbin; echo "exit $?"
left b.clbin
oclcc --strip --drop-target CPU s.clbin -o b.clbin; echo "exit $?"
left b.clbin
oclcc --strip --drop-target "sm_[57]0" --drop-target cpu-a s.clbin -o b.clbin; echo "exit $?"
left b.clbin
oclcc --strip --drop-target sm_7 s.clbin -o b.clbin; echo "exit $?"
cmp s.clbin b.clbin
# expected output:
#| exit 0
#| program 'matmul', variant 'default'
#|     device    cpu-a
#| program 'matmul', variant 'fast'
#|     device    cpu-a
#| program 'reduce', variant 'default'
#|     device    cpu-b
#| exit 0
#| program 'matmul', variant 'default'
#|     target    nvptx:sm_50
#|     target    nvptx:sm_70
#| program 'matmul', variant 'fast'
#|     target    nvptx:sm_70
#| program 'reduce', variant 'default'
#|     target    nvptx:sm_80
#| exit 0
#| program 'matmul', variant 'default'
#| program 'matmul', variant 'fast'
#| program 'reduce', variant 'default'
#|     target    nvptx:sm_80
#|     device    cpu-b
#| exit 0
# expected errors:
#| oclcc: warning: s.clbin: no target matches 'sm_7'; there are 'cpu-a' (Portable Computing Language), 'cpu-b' (Portable Computing Language), 'nvptx:sm_50', 'nvptx:sm_70', 'nvptx:sm_80'
