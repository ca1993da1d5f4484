#!/bin/bash
# Kernels without reflection, and kernels whose variants disagree, get no launcher. A warning gives
# the reason.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void same(int a) {} kernel void other(T a) {}' > k.cl
oclcc k.cl --variant i=-DT=int --variant f=-DT=float -o k.clbin
oclcc k.clbin -o k.hpp; echo "exit $?"
grep '^class' k.hpp
oclcc --strip --strip-reflection k.clbin
oclcc k.clbin -o k.hpp; echo "exit $?"
grep -c '^class' k.hpp
mkdir folder.hpp
oclcc k.clbin -o folder.hpp; echo "exit $?"
oclcc --emit obj k.cl; echo "exit $?"
