#!/bin/bash
# Spellings that gcc's users expect: joined and separate values, options after inputs, "--", commas.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
first=$(echo "$devices" | head -1)
mkdir a,b dir
echo '#define FROM_AB 1' > a,b/ab.h
echo '#define FROM_DIR 1' > dir/d.h
echo '#include <ab.h>
#include <d.h>
kernel void k(global int* p) { *p = F(X + FROM_AB + FROM_DIR, 0) + Y; }' > ./-k.cl
oclcc --device "$first" -Ia,b -DX -D Y=2 -o-k.out '-DF(a,b)=a' -I dir -- -k.cl; echo "exit $?"
oclcc --info -- -k.out | grep '^  options'
cp -- -k.cl k.cl
oclcc k.cl --device "$first" -I a,b -Idir -DX -DY=2 '-DF(a,b)=a' -w -o k.clbin; echo "exit $?"
for option in -Wall -ggdb -Og -std=CL2.0 -ffast-math -c -E --device-options=x -fsyntaxonly -MDD; do
  oclcc k.cl "$option"; echo "exit $?"
done
oclcc --device "$first" -cl-no-such-thing k.cl 2> errors; echo "exit $?"
# Drivers differ in which of these they accept. Accepted options are recorded, and the entry loads.
built=0
for device in $devices; do
  for option in -g -O2; do
    if oclcc --device "$device" "$option" k.cl -Ia,b -Idir -DX -DY=2 '-DF(a,b)=a' -o o.clbin 2> /dev/null; then
      oclcc --info o.clbin | grep -q -- "^  options   $option " && oclcc --verify --run o.clbin && built=1
    fi
  done
done
[ $built = 1 ] || echo "no device builds with -g or -O2"
oclcc -M k.cl -Ia,b -Idir -O -O0 -O1 -O3 -Os -Oz -Ofast
# expected output:
#| exit 0
#|   options   -DX -DY=2 -DF(a,b)=a
#| exit 0
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 1
#| k.clbin: k.cl a,b/ab.h dir/d.h
# expected errors:
#| oclcc: error: unrecognized option '-Wall'
#| oclcc: error: unrecognized option '-ggdb'
#| oclcc: error: unrecognized option '-Og'
#| oclcc: error: unrecognized option '-std=CL2.0'; did you mean '-cl-std'?
#| oclcc: error: unrecognized option '-ffast-math'; did you mean '-cl-fast-relaxed-math'?
#| oclcc: error: unrecognized option '-c'
#| oclcc: error: unrecognized option '-E'
#| oclcc: error: unrecognized option '--device-options=x'; did you mean '--device-option'?
#| oclcc: error: unrecognized option '-fsyntaxonly'; did you mean '-fsyntax-only'?
#| oclcc: error: unrecognized option '-MDD'; did you mean '-MD'?
