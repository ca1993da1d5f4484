#!/bin/bash
# --emit sets the kind of the output, whatever its name. If the device does not make this kind, the
# error names the kind that it makes.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
first=$(echo "$devices" | head -1)
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc --emit=clbin k.cl -o k.ptx; echo "exit $?"
oclcc --info k.ptx | grep -c '^program' > /dev/null || echo 'no bundle'
oclcc --emit bin --device "$first" k.cl; echo "exit $?"
oclcc k.cl --device "$first" -o other.bin; echo "exit $?"
cmp k.bin other.bin
oclcc --emit=bin --device "$first" k.cl -o - | cmp - k.bin
oclcc --device "$first" k.cl -o - | oclcc --info /dev/stdin 2> /dev/null | grep -c '^program'
other_kinds='spv cubin'
case $(oclcc --list-devices --device "$first") in
*NVIDIA*) other_kinds='spv spv' ;; # ptxas makes a cubin of its PTX; twice, to print as many lines
esac
for kind in $other_kinds; do
  oclcc --emit=$kind --device "$first" k.cl 2> errors; echo "exit $?"
  grep -o "^oclcc: error: cannot write 'k.$kind': '.*' produces " errors > /dev/null || cat errors
  oclcc --device "$first" k.cl -o x.$kind 2> errors; echo "exit $?"
  grep -o "^oclcc: error: cannot write 'x.$kind': '.*' produces " errors > /dev/null || cat errors
done
oclcc --emit=exe k.cl; echo "exit $?"
oclcc --emit=s k.cl -fsyntax-only; echo "exit $?"
ls
# expected output:
#| exit 0
#| exit 0
#| exit 0
#| 1
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 0
#| errors
#| k.bin
#| k.cl
#| k.ptx
#| other.bin
# expected errors:
#| oclcc: error: '--emit' accepts one of clbin, ptx, cubin, spv, bin, h, c, o, s, hpp, not 'exe'
