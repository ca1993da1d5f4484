#!/bin/bash
# Tests of --emit=hpp.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"

### kept
# The tests of launchers use a header that oclcc still writes, from the source for each device, and
# from a bundle. Comments show the arguments as each compiler reports them.
without_comments() { grep -v '^// kernel void' "$1"; }
without_comments "$ROOT/tests/launchers/launched.hpp" > kept
cp "$ROOT/tests/launchers/launched.cl" .
check() {
  oclcc launched.cl --device "$1" -o one.hpp
  without_comments one.hpp | diff - kept
}
on_each_device check
oclcc launched.cl
oclcc launched.clbin -o bundle.hpp
without_comments bundle.hpp | diff - kept
oclcc launched.cl --emit hpp -o bundle.txt
cmp bundle.txt bundle.hpp

### left_out
# Kernels without reflection, and kernels whose variants disagree, get no launcher. A warning gives
# the reason.
show_platforms 1
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
# expected output:
#| exit 0
#| class same {
#| exit 0
#| 0
#| exit 3
#| exit 2
# expected errors:
#| oclcc: warning: program 'k': kernel 'other' has no launcher: its arguments differ: other(float a) and other(int a)
#| oclcc: warning: program 'k': kernel 'other' has no launcher: no compiler reported its arguments
#| oclcc: warning: program 'k': kernel 'same' has no launcher: no compiler reported its arguments
#| oclcc: warning: program 'k': kernel 'other' has no launcher: no compiler reported its arguments
#| oclcc: warning: program 'k': kernel 'same' has no launcher: no compiler reported its arguments
#| oclcc: error: cannot write 'folder.hpp': Is a directory
#| oclcc: error: '--emit' accepts one of clbin, ptx, cubin, spv, bin, asm, h, c, o, s, hpp, measurements, not 'obj'
