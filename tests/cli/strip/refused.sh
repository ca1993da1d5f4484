#!/bin/bash
make_bundle sample s.clbin
head -c 300 s.clbin > cut.clbin
echo no > text
mkdir folder
oclcc --strip s.clbin; echo "exit $?"
oclcc --strip --strip-source; echo "exit $?"
oclcc --strip --strip-source s.clbin s.clbin -o b.clbin; echo "exit $?"
oclcc --strip --strip-source - < s.clbin; echo "exit $?"
oclcc --strip --strip-source missing.clbin s.clbin; echo "exit $?"
oclcc --info s.clbin | grep "  source"
oclcc --strip --strip-source cut.clbin -o b.clbin; echo "exit $?"
oclcc --strip --strip-source text -o b.clbin; echo "exit $?"
oclcc --strip --drop-target nvptx s.clbin -o folder; echo "exit $?"
oclcc --strip --strip-source folder -o b.clbin; echo "exit $?"
cp s.clbin t.clbin
oclcc --strip --drop-target cpu t.clbin t.clbin; echo "exit $?" # the second time, none is left
oclcc --strip --drop-target nvptx s.clbin -o no/such/folder; echo "exit $?"
oclcc --strip --device gpu s.clbin; echo "exit $?"
oclcc --drop-target nvptx a.cl; echo "exit $?"
ls
