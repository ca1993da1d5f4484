#!/bin/bash
make_bundle sample s.clbin
head -c 3000 s.clbin > cut.clbin
cp s.clbin damaged.clbin
printf X | dd of=damaged.clbin bs=1 seek=3700 conv=notrunc status=none
mkdir folder
oclcc --merge s.clbin; echo "exit $?"
oclcc --merge -o b.clbin; echo "exit $?"
oclcc --merge s.clbin cut.clbin missing.clbin folder -o b.clbin; echo "exit $?"
oclcc --merge s.clbin damaged.clbin -o b.clbin; echo "exit $?"
oclcc --merge s.clbin -o folder; echo "exit $?"
oclcc --merge s.clbin --json -o -; echo "exit $?"
oclcc --merge s.clbin --strip-source -o b.clbin; echo "exit $?"
oclcc --merge - - -o b.clbin; echo "exit $?"
ls
