#!/bin/bash
# -v names the ingredient that differs from the previous build.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
device=${devices%%$'\n'*}
why() { oclcc --device "$device" -v "$@" k.cl 2>&1 | sed -n 's/.*compile cache: //p'; }
mkdir one two
echo '#define T 1' > two/tile.h
echo '#include <tile.h>
kernel void k(global int* a) { *a = T; }' > k.cl
why -I one -I two
why -I one -I two
echo '#define T 2' > two/tile.h
why -I one -I two
echo '#define T 3' > one/tile.h
why -I one -I two
why -I one
why -I one -DX=1 -DY=2
why -I one -DY=2 -DX=1
echo >> k.cl
why -I one -DY=2 -DX=1
LD_LIBRARY_PATH=$PWD why -I one -DY=2 -DX=1
why -I one -DY=2 -DX=1
# expected output:
#| miss: never built, or no longer stored
#| hit
#| miss: header 'tile.h' changed
#| miss: header 'tile.h' changed
#| hit
#| miss: options changed from '' to '-DX=1 -DY=2'
#| miss: options changed from '-DX=1 -DY=2' to '-DY=2 -DX=1'
#| miss: source changed
#| miss: environment variable LD_LIBRARY_PATH is new
#| hit
