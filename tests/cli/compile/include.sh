#!/bin/bash
# Nested folders, the same name twice, -I in order, angled names, guards, a macro, __has_include,
# and a branch not taken. Every device builds the program, first with the source tree, then without.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
mkdir -p src/x src/y one two
cat > src/k.cl << 'END'
#include "x/n.h"
#include "y/n.h"
#include <order.h>
#define HEADER "macro.h"
#include HEADER
#if __has_include(<order.h>) && !__has_include("absent.h")
#include "./x/../x/n.h"
#else
#include "absent.h"
#endif
kernel void k(global int* a) { *a = X + Y + ORDER + MACRO; }
END
printf '#pragma once\n#include "m.h"\nint fx(int a) { return a; }\n' > src/x/n.h
printf '#ifndef Y_N\n#define Y_N\n#include "m.h"\n#include "../k_cycle.h"\n#endif\n' > src/y/n.h
printf '#include "y/n.h"\n' > src/k_cycle.h
echo '#define X 1' > src/x/m.h
echo '#define Y 1' > src/y/m.h
echo '#define ORDER 1' > one/order.h
echo '#error wrong folder' > two/order.h
echo '#define MACRO 1' > two/macro.h
oclcc -I one -Itwo src/k.cl
[ "$(entries k.clbin)" = "$device_count" ] || echo "$(entries k.clbin) entries"
oclcc --info k.clbin | grep source
# expected output:
#|   source    kept: 8 files, 465 bytes
