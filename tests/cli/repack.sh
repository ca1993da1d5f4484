#!/bin/bash
# Tests of --repack.

### hidden
# repack removes the payloads that strip had to keep, also in place.
make_bundle sample s.clbin
oclcc -q --strip --drop-target sm_50 --drop-target sm_80 s.clbin -o b.clbin
oclcc --strip --strip-reflection b.clbin
oclcc --repack b.clbin; echo "exit $?"
oclcc --strip --strip-reflection b.clbin -o c.clbin
cmp b.clbin c.clbin || echo differs
oclcc --info -v b.clbin | grep -E "^(program|  entry)"
# expected output:
#| exit 0
#| program 'matmul', variant 'default'
#|   entry     PTX 7.5 for sm_70
#|   entry     PoCL binary
#| program 'matmul', variant 'fast'
#|   entry     Portable Computing Language binary
#|   entry     PTX 7.5 for sm_70
#| program 'reduce', variant 'default'
#|   entry     PoCL binary
# expected errors:
#| oclcc: note: b.clbin: 1 removed payload remains hidden in it (203 bytes), because 1 kept payload is compressed against it; '--repack' removes it

### refused
make_bundle sample s.clbin
head -c 3000 s.clbin > cut.clbin
cp s.clbin damaged.clbin
printf X | dd of=damaged.clbin bs=1 seek=3700 conv=notrunc status=none
mkdir folder
cp damaged.clbin before.clbin
oclcc --repack; echo "exit $?"
oclcc --repack cut.clbin; echo "exit $?"
oclcc --repack damaged.clbin; echo "exit $?"
cmp damaged.clbin before.clbin
oclcc --repack s.clbin s.clbin -o b.clbin; echo "exit $?"
oclcc --repack s.clbin -o folder; echo "exit $?"
oclcc --repack folder; echo "exit $?"
# One bundle as input and output, or given twice, is repacked in place.
cp s.clbin t.clbin
oclcc --repack t.clbin -o t.clbin; echo "exit $?"
oclcc --repack s.clbin s.clbin; echo "exit $?"
cmp s.clbin t.clbin
oclcc --repack - < s.clbin; echo "exit $?"
ls
# expected output:
#| exit 2
#| exit 4
#| exit 4
#| exit 2
#| exit 3
#| exit 3
#| exit 0
#| exit 0
#| exit 2
#| before.clbin
#| cut.clbin
#| damaged.clbin
#| folder
#| s.clbin
#| t.clbin
# expected errors:
#| oclcc: error: '--repack' needs a bundle
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 3000 bytes are present
#| oclcc: error: damaged.clbin: blob 6: stored_digest does not match: it was changed
#| oclcc: error: '-o' accepts the output of '--repack' for one bundle, but 2 are given
#| oclcc: error: cannot write 'folder': Is a directory
#| oclcc: error: cannot read 'folder': Is a directory
#| oclcc: error: '--repack' cannot replace standard input: name an output with '-o'
