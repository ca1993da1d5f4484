#!/bin/bash
# An error, a warning and a note in each of these places: the main file, a header, a header of a
# header, a macro, after a #line, an -include'd file, and a file with a space and UTF-8 in its name.
# Every platform reports the user's own file, line and column.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
mkdir -p src/inc 'src/sp é'
cat > src/main.cl << 'END'
#include "inc/outer.h"
#include "sp é/né w.h"
#define MACRO(x) ((x) + in_macro)
int twice(int a) { return a; }
int twice(float a, float b);
#warning in main
	kernel void k(global int* a) { a[0] = in_main; }
kernel void l(global int* a) { a[0] = MACRO(1); }
#line 500
kernel void m(global int* a) { a[0] = after_line; }
#warning after line
#line 700 "named file.cl"
kernel void n(global int* a) { a[0] = in_named; }
END
printf '#include "inner.h"\n#warning in outer\nint outer(int a) { return in_outer; }\n' > src/inc/outer.h
printf '\n#warning in inner\nint inner(int a) { return in_inner; }\n' > src/inc/inner.h
printf '#warning in space\n\nint space(int a) { return in_space; }\n' > 'src/sp é/né w.h'
printf '\n\n#warning forced\nint first(int a) { return in_forced; }\n' > forced.h

cat > expected << 'END'
forced.h:3:2: warning: forced
forced.h:4:27: error: use of undeclared identifier 'in_forced'
src/inc/inner.h:2:2: warning: in inner
src/inc/inner.h:3:27: error: use of undeclared identifier 'in_inner'
src/inc/outer.h:2:2: warning: in outer
src/inc/outer.h:3:27: error: use of undeclared identifier 'in_outer'
src/sp é/né w.h:1:2: warning: in space
src/sp é/né w.h:3:27: error: use of undeclared identifier 'in_space'
src/main.cl:6:2: warning: in main
src/main.cl:7:40: error: use of undeclared identifier 'in_main'
src/main.cl:8:39: error: use of undeclared identifier 'in_macro'
src/main.cl:3:25: note: expanded from macro 'MACRO'
src/main.cl:500:39: error: use of undeclared identifier 'after_line'
src/main.cl:501:2: warning: after line
named file.cl:700:39: error: use of undeclared identifier 'in_named'
END
for device in $devices; do
  oclcc --device "$device" -include forced.h src/main.cl 2> log; echo "exit $?"
  while IFS= read -r line; do
    grep -q -F -x -e "$line" <(sed 's/ \[-W.*\]$//' log) || echo "$device: not there: $line"
  done < expected
  # No line contains a driver's own name for a file.
  grep -E '(error|warning|note): ' log | grep -v -E '^(forced.h|src/|named file.cl)'
done | sort | uniq -c | sed "s/^ *$device_count exit 1\$/every device exits 1/"
# expected output:
#| every device exits 1
