#!/bin/bash
# Messages of clang name the user's files and lines. A message that every target prints is shown
# once.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_70
needs spirv:1.2
mkdir include
printf '\n#define TWICE(x) ((x) + (y))\n' > include/twice.h
cat > k.cl <<'END'
#include <twice.h>
kernel void k(global int* a) {
  int unused_result;
  *a = TWICE(*a);
}
END
oclcc -I include k.cl --target nvptx:sm_70 --target spirv:1.2; echo "exit $?"
ls
# expected output:
#| exit 1
#| include
#| k.cl
# expected errors:
#| k.cl:4:8: error: use of undeclared identifier 'y'
#|     4 |   *a = TWICE(*a);
#|       |        ^
#| include/twice.h:2:26: note: expanded from macro 'TWICE'
#|     2 | #define TWICE(x) ((x) + (y))
#|       |                          ^
