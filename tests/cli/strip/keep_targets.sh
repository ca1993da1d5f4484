#!/bin/bash
# With both options, keeps the entries that match the first option but not the second.
make_bundle sample s.clbin
left() { oclcc --info "$1" | grep -E "^program|^    (target|device)" ; }
oclcc -q --strip --keep-target nvptx s.clbin -o b.clbin; echo "exit $?"
left b.clbin
oclcc -q --strip --keep-target nvptx:sm_80 --keep-target Portable --drop-target "*-b" s.clbin -o b.clbin
left b.clbin
# expected output:
#| exit 0
#| program 'matmul', variant 'default'
#|     target    nvptx:sm_50
#|     target    nvptx:sm_70
#| program 'matmul', variant 'fast'
#|     target    nvptx:sm_70
#| program 'reduce', variant 'default'
#|     target    nvptx:sm_80
#| program 'matmul', variant 'default'
#|     device    cpu-a
#| program 'matmul', variant 'fast'
#|     device    cpu-a
#| program 'reduce', variant 'default'
#|     target    nvptx:sm_80
