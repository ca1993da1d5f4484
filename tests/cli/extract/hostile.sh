#!/bin/bash
# Untrusted names in a bundle cannot lead to another folder, control the terminal, or collide.
make_bundle hostile s.clbin
mkdir -p deep/er/out
oclcc -v --extract s.clbin -o deep/er/out; echo "exit $?"
find . -type f | LC_ALL=C sort
find . -type f | tr "A-Z" "a-z" | sort | uniq -d
# expected output:
#| exit 0
#| ./deep/er/out/_-rf.__31m.cpu-b.bin
#| ./deep/er/out/_-rf.__31m.nvptx_sm_80.ptx
#| ./deep/er/out/_.._.._escaped._...A_.._.._B_c.9daf45ea4d5978f9.ptx
#| ./deep/er/out/_.._.._escaped._...a_.._.._b_c.c6b4e70f2b184e37.ptx
#| ./deep/er/out/_.._.._escaped._etc_passwd.cpu-a.bin
#| ./deep/er/out/_.._.._escaped._etc_passwd.nvptx_sm_70.ptx
#| ./deep/er/out/_.._.._escaped._etc_passwd.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.bin
#| ./deep/er/out/_.._.._escaped.source/_.._.._main.cl
#| ./deep/er/out/_.._.._escaped.source/tile.h
#| ./s.clbin
# expected errors:
#| deep/er/out/_-rf.__31m.nvptx_sm_80.ptx
#| deep/er/out/_-rf.__31m.cpu-b.bin
#| deep/er/out/_.._.._escaped._...a_.._.._b_c.c6b4e70f2b184e37.ptx
#| deep/er/out/_.._.._escaped._...A_.._.._B_c.9daf45ea4d5978f9.ptx
#| deep/er/out/_.._.._escaped._etc_passwd.cpu-a.bin
#| deep/er/out/_.._.._escaped._etc_passwd.nvptx_sm_70.ptx
#| deep/er/out/_.._.._escaped._etc_passwd.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.bin
#| deep/er/out/_.._.._escaped.source/_.._.._main.cl
#| deep/er/out/_.._.._escaped.source/tile.h
