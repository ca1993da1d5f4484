#!/bin/bash
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
