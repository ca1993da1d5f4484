#!/bin/bash
# Tests of --extract.

### all
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

### hostile
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

### json
make_bundle sample s.clbin
oclcc --extract --json s.clbin missing.clbin -o out > e.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/extract.schema.json" < e.json
grep "\"file\"" e.json
# expected output:
#| exit 3
#| fits the schema
#|       "file": "out/matmul.default.nvptx_sm_50.ptx",
#|       "file": "out/matmul.default.nvptx_sm_70.ptx",
#|       "file": "out/matmul.default.cpu-a.bin",
#|       "file": "out/matmul.fast.cpu-a.bin",
#|       "file": "out/matmul.fast.nvptx_sm_70.ptx",
#|       "file": "out/reduce.default.nvptx_sm_80.ptx",
#|       "file": "out/reduce.default.cpu-b.bin",
#|       "file": "out/matmul.source/matmul.cl",
#|       "file": "out/matmul.source/tile.h",
# expected errors:
#| oclcc: error: cannot open 'missing.clbin': No such file or directory

### refused
make_bundle sample s.clbin
head -c 3000 s.clbin > cut.clbin
touch file
oclcc --extract; echo "exit $?"
oclcc --extract s.clbin --program nothing -o out; echo "exit $?"
oclcc --extract s.clbin --variant nothing -o out; echo "exit $?"
oclcc --extract s.clbin --program reduce --variant fast -o out; echo "exit $?"
oclcc --extract s.clbin --keep-target amdgcn -o out; echo "exit $?"
oclcc --extract s.clbin -o -; echo "exit $?"
oclcc --extract s.clbin --json -o -; echo "exit $?"
oclcc --extract s.clbin s.clbin -o -; echo "exit $?"
oclcc --extract s.clbin -o file; echo "exit $?"
mkdir -p out2/matmul.default.nvptx_sm_50.ptx
oclcc --extract s.clbin --keep-target sm_50 -o out2; echo "exit $?"
oclcc --extract s.clbin s.clbin -o out3; echo "exit $?"
oclcc --extract s.clbin -o s.clbin; echo "exit $?"
mkdir folder
oclcc --extract folder -o out; echo "exit $?"
oclcc --extract cut.clbin missing.clbin -o out; echo "exit $?"
ls
# expected output:
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
#| exit 3
#| exit 3
#| exit 4
#| cut.clbin
#| file
#| folder
#| out2
#| out3
#| s.clbin
# expected errors:
#| oclcc: error: '--extract' needs a bundle
#| oclcc: error: s.clbin: there is no program 'nothing'; there are 'matmul', 'reduce'
#| oclcc: error: s.clbin: there is no variant 'nothing'; there are 'default', 'fast'
#| oclcc: error: s.clbin: there is no variant 'fast'; there are 'default'
#| oclcc: error: s.clbin: no entry matches; it contains entries for 'cpu-a' (Portable Computing Language), 'cpu-b' (Portable Computing Language), 'nvptx:sm_50', 'nvptx:sm_70', 'nvptx:sm_80'
#| oclcc: error: s.clbin: standard output accepts one device binary, but 7 are selected
#| oclcc: error: '--json' and '-o -' would both write to standard output
#| oclcc: error: standard output accepts one device binary, but there are several bundles
#| oclcc: error: s.clbin: cannot write into 'file': Not a directory
#| oclcc: error: s.clbin: cannot write 'out2/matmul.default.nvptx_sm_50.ptx': Is a directory
#| oclcc: error: s.clbin: 'out3/matmul.default.nvptx_sm_50.ptx' was already extracted from another bundle: extract each bundle to a separate directory
#| oclcc: error: cannot write into 's.clbin': Not a directory
#| oclcc: error: cannot read 'folder': Is a directory
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 3000 bytes are present
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
