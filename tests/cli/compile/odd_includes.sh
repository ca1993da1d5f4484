#!/bin/bash
# Macros with arguments, #include_next, an absolute path, and a path outside the -I folders. oclcc
# does not read a pipe, a device or a folder, and does not block. They are errors if the branch is
# taken.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
mkdir -p src one two outside folder.h
cat > src/k.cl << END
#include S(DIR/by_macro.h)
#include <next.h>
#include "$PWD/outside/absolute.h"
#include "../outside/relative.h"
#ifdef TAKEN
  #include TAKEN
#endif
kernel void k(global int* a) { *a = BY_MACRO + FIRST + SECOND + ABSOLUTE + RELATIVE; }
END
echo '#define BY_MACRO 1' > src/by_macro.h
printf '#define FIRST 1\n#include_next <next.h>\n' > one/next.h
echo '#define SECOND 1' > two/next.h
echo '#define ABSOLUTE 1' > outside/absolute.h
echo '#define RELATIVE 1' > outside/relative.h
mkfifo pipe.h
options=(-I one -I two '-DXS(x)=#x' '-DS(x)=XS(x)' "-DDIR=$PWD/src")
oclcc "${options[@]}" src/k.cl; echo "exit $?"
[ "$(entries k.clbin)" = "$device_count" ] || echo "$(entries k.clbin) entries"
for header in "$PWD/pipe.h" /dev/null "$PWD/folder.h"; do
  timeout 300 oclcc "${options[@]}" "-DTAKEN=\"$header\"" src/k.cl -o bad.clbin 2> log; echo "exit $?"
  grep -o 'src/k.cl:6:12: warning: .* is not a regular file: it is not read' log | sed "s|$PWD/||"
  grep -c '^src/k.cl:6:12: error: .* file not found' log
done
# A header that cannot be read: a warning, and also an error if its branch is taken.
printf '#define ZERO \0\n' > one/zero.h
printf '#ifdef TAKEN\n#include <zero.h>\n#endif\nkernel void k(global int* a) { *a = 1; }\n' > zero.cl
oclcc -I one -q zero.cl; echo "exit $?"
oclcc -I one -DTAKEN zero.cl -o bad.clbin 2> log; echo "exit $?"
grep -c "^zero.cl:2:10: warning: 'one/zero.h' is not source text: it contains a zero byte at offset 13" log
grep -c '^zero.cl:2:10: error: .* file not found' log
ls ./*.clbin
oclcc -include <(echo '#define FORCED 1') "${options[@]}" src/k.cl; echo "exit $?"
# expected output:
#| exit 0
#| exit 1
#| src/k.cl:6:12: warning: 'pipe.h' is not a regular file: it is not read
#| 1
#| exit 1
#| src/k.cl:6:12: warning: '/dev/null' is not a regular file: it is not read
#| 1
#| exit 1
#| 1
#| exit 0
#| exit 1
#| 1
#| 1
#| ./k.clbin
#| ./zero.clbin
#| exit 0
