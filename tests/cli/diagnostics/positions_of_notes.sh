#!/bin/bash
# A note with its own file, line and column in each place of positions.sh, and a warning within a
# macro.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
mkdir -p src/inc 'src/sp é'
cat > src/main.cl << 'END'
#include "inc/outer.h"
#include "sp é/né w.h"
typedef int in_main;
typedef float in_main;
#define DECLARE(type) typedef type in_macro
DECLARE(int);
DECLARE(float);
#line 500
  typedef int after_line;
typedef float after_line;
#line 700 "named file.cl"
  typedef int in_named;
typedef float in_named;
END
printf '#include "inner.h"\ntypedef int in_outer;\ntypedef float in_outer;\n' > src/inc/outer.h
printf '\n   typedef int in_inner;\ntypedef float in_inner;\n' > src/inc/inner.h
printf 'typedef int in_space;\n typedef float in_space;\n' > 'src/sp é/né w.h'
printf '\n\ntypedef int in_forced;\ntypedef float in_forced;\n' > forced.h

cat > expected << 'END'
forced.h:4:15: error: typedef redefinition with different types ('float' vs 'int')
forced.h:3:13: note: previous definition is here
src/inc/inner.h:3:15: error: typedef redefinition with different types ('float' vs 'int')
src/inc/inner.h:2:16: note: previous definition is here
src/inc/outer.h:3:15: error: typedef redefinition with different types ('float' vs 'int')
src/inc/outer.h:2:13: note: previous definition is here
src/sp é/né w.h:2:16: error: typedef redefinition with different types ('float' vs 'int')
src/sp é/né w.h:1:13: note: previous definition is here
src/main.cl:4:15: error: typedef redefinition with different types ('float' vs 'int')
src/main.cl:3:13: note: previous definition is here
src/main.cl:7:1: error: typedef redefinition with different types ('float' vs 'int')
src/main.cl:6:1: note: previous definition is here
src/main.cl:501:15: error: typedef redefinition with different types ('float' vs 'int')
src/main.cl:500:15: note: previous definition is here
named file.cl:701:15: error: typedef redefinition with different types ('float' vs 'int')
named file.cl:700:15: note: previous definition is here
END
for device in $devices; do
  oclcc -v --device "$device" -include forced.h src/main.cl 2> log; echo "exit $?"
  # PoCL 3.1 does not print the notes of its compiler: the whole log has none.
  if grep -q 'previous definition' log; then
    cp expected wanted
  else
    grep -v note: expected > wanted
  fi
  while IFS= read -r line; do
    grep -q -F -x -e "$line" log || echo "$device: not there: $line"
  done < wanted
  # No line contains a driver's own name for a file.
  oclcc --device "$device" -include forced.h src/main.cl 2>&1 | grep -E '(error|warning|note): ' |
    grep -v -E '^(forced.h|src/|named file.cl)'
done | sort | uniq -c | sed "s/^ *$device_count /every device: /"
# A warning from a macro is reported at the place where the macro is used.
cat > warn.cl << 'END'
#define NARROW 1000
kernel void k(global int* a) { char c = NARROW; *a = c; }
kernel void l(global int* a) { *a = nope; }
END
for device in $devices; do
  oclcc --device "$device" warn.cl 2> log
  grep -o -E '^warn.cl:2:41: warning: implicit conversion from .int. to .char.' log || cat log
done | sort | uniq -c | sed "s/^ *$device_count /every device: /"
# expected output:
#| every device: exit 1
#| every device: warn.cl:2:41: warning: implicit conversion from 'int' to 'char'
