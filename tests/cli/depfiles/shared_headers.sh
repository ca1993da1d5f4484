#!/bin/bash
# Two programs of one bundle share a header. A change of an indirectly included header causes a
# rebuild. A change of a file that is not included does not.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
command -v ninja > /dev/null || { echo "there is no ninja"; exit 77; }
first=$(echo "$devices" | head -1)
mkdir inc
echo '#include <shared.h>
kernel void a(global int* p) { *p = DEEP; }' > a.cl
echo '#include <shared.h>
kernel void b(global int* p) { *p = DEEP; }' > b.cl
echo '#include "deep.h"' > inc/shared.h
echo '#define DEEP 1' | tee inc/deep.h > inc/other.h
cat > build.ninja << END
rule oclcc
  command = echo made >> log; oclcc --device $first -Iinc -MD \$in -o \$out -MF \$out.d
  depfile = \$out.d
  deps = gcc
build both.clbin: oclcc a.cl b.cl
END
mv build.ninja build.tmp
sed '/deps = gcc/d' build.tmp > build.ninja
ninja > /dev/null
cat both.clbin.d
for file in inc/other.h inc/deep.h inc/shared.h b.cl; do
  rm -f log
  newer $file both.clbin
  ninja > /dev/null
  echo "$file: $(cat log 2> /dev/null)"
done
# With "deps = gcc" ninja reads the rule once, into its log, and removes it.
cp build.tmp build.ninja
ninja > /dev/null
[ -e both.clbin.d ] && echo 'the rule is still there'
rm -f log
newer inc/deep.h both.clbin
ninja > /dev/null
cat log
ninja
# expected output:
#| both.clbin: a.cl inc/shared.h inc/deep.h b.cl
#| inc/other.h: 
#| inc/deep.h: made
#| inc/shared.h: made
#| b.cl: made
#| made
#| ninja: no work to do.
