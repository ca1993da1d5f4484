#!/bin/bash
# The bytes are the same in another folder, with other caches, another number of compilers and
# another path to the file.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
export CLBIN_CACHE=0
for place in one another/place; do
  mkdir -p "$place/inc" "$place/home" "$place/tmp"
  echo '#include "inc/h.h"
kernel void k(global int* a) { *a = ONE; }' > "$place/k.cl"
  echo '#include "beside.h"' > "$place/inc/h.h"
  echo '#define ONE 1' > "$place/inc/beside.h"
done
(cd one && POCL_CACHE_DIR=$PWD/home oclcc -j1 k.cl)
(cd another/place && POCL_CACHE_DIR=$PWD/home XDG_CACHE_HOME=$PWD/home oclcc -j2 k.cl)
cmp one/k.clbin another/place/k.clbin
oclcc one/k.cl -o from_above.clbin
cmp one/k.clbin from_above.clbin
oclcc "$PWD/one/k.cl" -o by_whole_path.clbin
cmp one/k.clbin by_whole_path.clbin
