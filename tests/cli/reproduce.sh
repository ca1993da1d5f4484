#!/bin/bash
# Tests of --reproduce.

write_sources() {
  mkdir -p inc
  echo '#define STEP 2' > inc/step.h
  cat > k.cl <<'END'
#include "step.h"
#ifndef SCALE
#define SCALE 2
#endif
kernel void first(global int* a) { a[get_global_id(0)] += STEP; }
kernel void second(global int* a) { a[get_global_id(0)] *= SCALE; }
END
}

### same
# A bundle says how its binaries were made: the variants, with another folder, home and caches.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs amdgcn:gfx900
needs spirv:1.2
write_sources
oclcc k.cl -I inc --target amdgcn:gfx900 --target spirv:1.2 --variant plain= \
  --variant fast='-cl-fast-relaxed-math -DSCALE=7' -o k.clbin
mkdir "other folder" && cp k.clbin "other folder"
(cd "other folder" && HOME=$PWD XDG_CACHE_HOME=$PWD/cache oclcc -j1 --reproduce k.clbin); echo "exit $?"
oclcc --keygen c --key-type content && oclcc --encrypt k.clbin --encrypt-key c.key -o e.clbin
oclcc --reproduce e.clbin; echo "exit $?"
oclcc --reproduce e.clbin --decrypt-key c.key | grep -c '^same '
# expected output:
#| same    'k' (fast) for 'amdgcn:gfx900'
#| same    'k' (fast) for 'spirv:1.2'
#| same    'k' (plain) for 'amdgcn:gfx900'
#| same    'k' (plain) for 'spirv:1.2'
#| exit 0
#| exit 4
#| 4
# expected errors:
#| oclcc: error: e.clbin: it is encrypted: name its key with '--decrypt-key'

### differs
# Names the binary that a changed compiler, or another source, would make otherwise. No cache hides
# it.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs spirv:1.2
needs amdgcn:gfx900
write_sources
printf '#!/bin/sh\nexec %s "$@" -DSCALE=3\n' "$clang" > changed
chmod +x changed
oclcc k.cl -I inc --target spirv:1.2 --tool clang=./changed -o k.clbin
oclcc --reproduce k.clbin | sed 's/[0-9][0-9]* bytes\|byte [0-9]* of [0-9]*/N/g'; echo "exit ${PIPESTATUS[0]}"
oclcc --reproduce k.clbin --tool clang=./changed; echo "exit $?"
for target in nvptx:sm_70 amdgcn:gfx900; do
  oclcc k.cl -I inc --target $target --tool clang=./changed -o t.clbin
  oclcc --reproduce t.clbin | sed 's/: .*;/: .../'
done
printf '#!/bin/sh\nexit 1\n' > failing && chmod +x failing
oclcc --reproduce k.clbin --tool llvm-spirv=./failing | sed 's/: .*/: .../'; echo "exit ${PIPESTATUS[0]}"
# expected output:
#| differs 'k' (default) for 'spirv:1.2': N, and N here
#| exit 1
#| same    'k' (default) for 'spirv:1.2'
#| exit 0
#| differs 'k' (default) for 'nvptx:sm_70': ... the code of 'second' differs
#| differs 'k' (default) for 'amdgcn:gfx900': ... the code of 'second' differs
#| failed  'k' (default) for 'spirv:1.2': ...
#| exit 1

### missing
# What this machine lacks is said, and is no difference. If it lacks everything, nothing was proved.
make_bundle sample s.clbin
oclcc=$(command -v oclcc)
OCL_ICD_VENDORS=/nonexistent OPENCL_VENDOR_PATH=/nonexistent PATH=/nonexistent "$oclcc" --reproduce s.clbin | grep -v ' for .cpu'
echo "exit ${PIPESTATUS[0]}"
oclcc --strip --strip-source s.clbin -o t.clbin
oclcc --reproduce t.clbin; echo "exit $?"
head -c 1000 s.clbin > cut.clbin
oclcc --reproduce cut.clbin; echo "exit $?"
oclcc --reproduce s.clbin t.clbin; echo "exit $?"
oclcc --reproduce s.clbin --target spirv:1.2; echo "exit $?"
# expected output:
#| missing 'matmul' (default) for 'nvptx:sm_50': 'nvptx:sm_50' needs programs that are not installed*
#| missing 'matmul' (default) for 'nvptx:sm_70': 'nvptx:sm_70' needs programs that are not installed*
#| missing 'matmul' (fast) for 'nvptx:sm_70': 'nvptx:sm_70' needs programs that are not installed*
#| missing 'reduce' (default) for 'nvptx:sm_80': 'nvptx:sm_80' needs programs that are not installed*
#| exit 5
#| exit 2
#| exit 4
#| exit 2
#| exit 2
# expected errors:
#| oclcc: warning: s.clbin: program 'reduce' is not built, and its entries are kept: it has no source
#| oclcc: warning: no OpenCL device found*
#| oclcc: warning: t.clbin: program 'matmul' is not built, and its entries are kept: it has no source
#| oclcc: warning: t.clbin: program 'reduce' is not built, and its entries are kept: it has no source
#| oclcc: error: t.clbin: no program of it can be built
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 1000 bytes are present
#| oclcc: error: '--reproduce' accepts one bundle, not 2
#| oclcc: error: '--target' cannot be used with '--reproduce'

### devices
# The binaries of every driver, too, with options for one device, and the sizes of work-groups that
# they are specialized for.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { a[get_global_id(0)] += STEP; }' > k.cl
oclcc k.cl -DSTEP=3 --specialize k=8 --device-option "$(head -n 1 <<< "$devices")=-DOTHER=1" -o k.clbin
oclcc --reproduce k.clbin > found; echo "exit $?"
grep -v '^same ' found
[ "$(grep -c '^same ' found)" = "$(wc -w <<< "$devices")" ] || echo "other devices"
# expected output:
#| exit 0
