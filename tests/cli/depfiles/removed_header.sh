#!/bin/bash
# A header is removed together with its #include. make succeeds because of -MP. ninja does not need
# -MP, but accepts it.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
for tool in make ninja; do
  command -v $tool > /dev/null || { echo "there is no $tool"; exit 77; }
done
first=$(echo "$devices" | head -1)
cat > Makefile << END
all: with.clbin without.clbin
with.clbin: with.cl
	@echo \$@ >> log
	@oclcc --device $first -MD -MP \$< -o \$@
without.clbin: without.cl
	@echo \$@ >> log
	@oclcc --device $first -MD \$< -o \$@
-include with.d without.d
END
cat > build.ninja << END
rule oclcc
  command = echo \$out >> log; oclcc --device $first -MD -MP \$in -o \$out -MF \$out.d
  depfile = \$out.d
build by_ninja.clbin: oclcc with.cl
END
include() {
  echo '#include "gone.h"
kernel void k(global int* a) { *a = 1; }' | tee with.cl > without.cl
  touch gone.h
}
include
make
ninja > /dev/null
sort log
rm log gone.h
echo 'kernel void k(global int* a) { *a = 2; }' | tee with.cl > without.cl
make with.clbin; echo "make: exit $?"
make without.clbin > out 2>&1; echo "make: exit $?"
grep -o "No rule to make target 'gone.h', needed by 'without.clbin'" out
ninja > out || cat out
cat log
rm log
make with.clbin
ninja
[ -e log ] && cat log
true
# expected output:
#| by_ninja.clbin
#| with.clbin
#| without.clbin
#| make: exit 0
#| make: exit 2
#| No rule to make target 'gone.h', needed by 'without.clbin'
#| with.clbin
#| by_ninja.clbin
#| make: 'with.clbin' is up to date.
#| ninja: no work to do.
