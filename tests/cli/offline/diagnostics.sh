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
