#!/bin/bash
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
