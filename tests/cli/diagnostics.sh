#!/bin/bash
# Tests of what compilers report.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"

### devices_named_once
# An error that every device reports is printed once, without device names.
echo 'kernel void k(global int* a) { *a = x; }' > k.cl
oclcc k.cl
# expected exit status: 1
# expected errors:
#| k.cl:1:37: error: use of undeclared identifier 'x'
#|     1 | kernel void k(global int* a) { *a = x; }
#|       |                                     ^

### excerpts
# The source line and the caret, below tabs and wide characters too.
printf 'kernel void k(global int* a) {\n\ta[0] = 1; /* \xe6\xbc\xa2 */ a[1] = x;\n}\n' > k.cl
compile() {
  oclcc --device "$1" k.cl 2> log; echo "exit $?"
  cmp log first 2> /dev/null || [ -e first ] || cp log first
  diff log first
}
on_each_device compile | sort | uniq -c | sed "s/^ *$device_count exit 1\$/every device exits 1/"
cat first
# expected output:
#| every device exits 1
#| k.cl:2:29: error: use of undeclared identifier 'x'
#|     2 | 	a[0] = 1; /* 漢 */ a[1] = x;
#|       | 	                          ^

### fatal_kernel
# rusticl 22.3 crashes on an array of char that is indexed by a variable. The message names the
# kernel, and the other kernel is usable.
see_only rusticl
cat > k.cl <<'END'
kernel void good(global int* a) { a[0] = 1; }
kernel void fatal(global int* a) {
  const uchar t[6] = {1, 2, 3, 4, 5, 6};
  a[0] = t[a[1]];
}
END
oclcc --device "$device" k.cl -o k.clbin 2> messages; echo "exit $?"
[ -s messages ] || { echo "this rusticl creates it"; exit 77; }
sed "s/compiler of '.*' crashed/compiler of it crashed/; s/ \[on .*//" messages
oclcc --info -v k.clbin | grep 'kernel '
oclcc --verify --run --device "$device" k.clbin; echo "exit $?"
# Also on a cache hit.
oclcc -Werror --device "$device" k.cl -o k.clbin 2> again; echo "exit $?"
grep -c "cannot create it" again
# expected output:
#| exit 0
#| k.cl: warning: the driver builds kernel 'fatal', but cannot create it: the compiler of it crashed (signal 11)
#|     kernel    fatal(...)
#|     kernel    good(global int* a)
#| exit 0
#| exit 1
#| 1

### format_json
# Prints one document on standard error, which contains oclcc's own messages and the logs of -v.
check() { python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/diagnostics.schema.json"; }
show() {
  python3 -c '
import json, sys
document = json.load(sys.stdin)
for head in document["diagnostics"]:
    for message in [head] + head["notes"]:
        print(message["severity"], message.get("file"), message.get("line"), message.get("column"),
              message["message"], repr(message.get("source_line")))
print("log:", "yes" if document["log"] else "no")'
}
printf '#define M(x) ((x) + nope)\nkernel void k(global int* a) { /* \xe6\xbc\xa2 */ *a = M(1); }\n' > k.cl
compile() {
  oclcc --diagnostics-format=json --device "$1" k.cl 2> out; echo "exit $?"
  check < out
  show < out
}
on_each_device compile | sort | uniq -c | sed "s/^ *$device_count /every device: /"
oclcc --diagnostics-format json none.cl 2> out; echo "exit $?"
check < out
show < out
echo 'kernel __attribute__((reqd_work_group_size(1, 1, 1))) void k(global int* a) { *a = 1; }' > good.cl
oclcc --diagnostics-format=json -v good.cl 2> out; echo "exit $?"
check < out
show < out
oclcc --diagnostics-format=xml good.cl; echo "exit $?"
# expected output:
#| every device: error k.cl 2 47 use of undeclared identifier 'nope' 'kernel void k(global int* a) { /* 漢 */ *a = M(1); }'
#| every device: exit 1
#| every device: fits the schema
#| every device: log: no
#| every device: note k.cl 1 21 expanded from macro 'M' '#define M(x) ((x) + nope)'
#| exit 3
#| fits the schema
#| error None None None cannot open 'none.cl': No such file or directory None
#| log: no
#| exit 0
#| fits the schema
#| log: yes
#| exit 2
# expected errors:
#| oclcc: error: '--diagnostics-format' accepts text, json or sarif, not 'xml'

### format_sarif
# In SARIF, columns are code points, names are URIs, and notes are related locations.
mkdir 'sp é'
printf "#define M(x) ((x) + nope)\nkernel void k(global int* a) { /* \xe6\xbc\xa2 */ *a = M(1); }\n" > "sp é/k%.cl"
compile() {
  oclcc --diagnostics-format=sarif --device "$1" 'sp é/k%.cl' 2> out; echo "exit $?"
  grep -o '"uri": .*' out
  python3 "$CLI_TESTS/diagnostics/check_sarif.py" < out
}
on_each_device compile | sort | uniq -c | sed -E "s/^ *($device_count|$((2 * device_count))) /every device: /"
echo 'kernel __attribute__((reqd_work_group_size(1, 1, 1))) void k(global int* a) { *a = 1; }' > good.cl
oclcc --diagnostics-format=sarif -v good.cl 2>&1 | python3 "$CLI_TESTS/diagnostics/check_sarif.py"
oclcc --diagnostics-format=sarif none.cl 2>&1 | python3 "$CLI_TESTS/diagnostics/check_sarif.py"
# expected output:
#| every device:   related sp é/k%.cl:1:21 expanded from macro 'M'
#| every device: "uri": "sp%20%C3%A9/k%25.cl"
#| every device: error error sp é/k%.cl:2:45 use of undeclared identifier 'nope'
#| every device: exit 1
#| every device: failed False
#| successful True
#| failed False
#| error error cannot open 'none.cl': No such file or directory

### link_error
# Errors that only the linker finds have no line, but the message names the file.
printf 'void absent(int);\nkernel void k(global int* a) { absent(1); }\n' > k.cl
compile() {
  oclcc --device "$1" k.cl 2> log && return
  grep -q -E '^(k.cl: error: |oclcc: error: k.cl: )' log || { echo "$OCL_ICD_VENDORS $1:"; cat log; }
}
on_each_device compile
true

### long_kernel_name
# PoCL aborts on a kernel name that is too long for a directory. The message names the kernel and
# the reason.
see_only "portable computing"
name=$(printf 'long%.0s' {1..64})
echo "kernel void $name(global int* a) { *a = 1; }" > k.cl
oclcc --device "$device" k.cl -o k.clbin 2> messages && { echo "this PoCL has no limit"; exit 77; }
echo "exit $?"
cat messages
# expected output:
#| exit 1
#| oclcc: error: k.cl: '*': the compiler crashed (signal 6) while making the binary; PoCL cannot make the binary of kernel 'longlonglonglonglonglonglonglonglonglong...', whose name has 256 characters, more than 254

### positions
# An error, a warning and a note in each of these places: the main file, a header, a header of a
# header, a macro, after a #line, an -include'd file, and a file with a space and UTF-8 in its name.
# Every platform reports the user's own file, line and column.
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
compile() {
  oclcc --device "$1" -include forced.h src/main.cl 2> log; echo "exit $?"
  while IFS= read -r line; do
    grep -q -F -x -e "$line" <(sed 's/ \[-W.*\]$//' log) || echo "$OCL_ICD_VENDORS: not there: $line"
  done < expected
  # No line contains a driver's own name for a file.
  grep -E '(error|warning|note): ' log | grep -v -E '^(forced.h|src/|named file.cl)'
}
on_each_device compile | sort | uniq -c | sed "s/^ *$device_count exit 1\$/every device exits 1/"
# expected output:
#| every device exits 1

### positions_of_notes
# A note with its own file, line and column in each place of positions.sh, and a warning within a
# macro.
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
compile() {
  oclcc -v --device "$1" -include forced.h src/main.cl 2> log; echo "exit $?"
  # PoCL 3.1 does not print the notes of its compiler: the whole log has none.
  if grep -q 'previous definition' log; then
    cp expected wanted
  else
    grep -v note: expected > wanted
  fi
  while IFS= read -r line; do
    grep -q -F -x -e "$line" log || echo "$OCL_ICD_VENDORS: not there: $line"
  done < wanted
  # No line contains a driver's own name for a file.
  oclcc --device "$1" -include forced.h src/main.cl 2>&1 | grep -E '(error|warning|note): ' |
    grep -v -E '^(forced.h|src/|named file.cl)'
}
on_each_device compile | sort | uniq -c | sed "s/^ *$device_count /every device: /"
# A warning from a macro is reported at the place where the macro is used.
cat > warn.cl << 'END'
#define NARROW 1000
kernel void k(global int* a) { char c = NARROW; *a = c; }
kernel void l(global int* a) { *a = nope; }
END
compile() {
  oclcc --device "$1" warn.cl 2> log
  grep -o -E '^warn.cl:2:41: warning: implicit conversion from .int. to .char.' log || cat log
}
on_each_device compile | sort | uniq -c | sed "s/^ *$device_count /every device: /"
# expected output:
#| every device: exit 1
#| every device: warn.cl:2:41: warning: implicit conversion from 'int' to 'char'

### previous_definition
# Notes follow the error that they belong to.
printf 'typedef int t;\n\ntypedef float t;\nkernel void k(global t* a) { *a = 1; }\n' > k.cl
oclcc k.cl 2>&1 | grep -o '^k.cl:[0-9:]*: error: typedef redefinition'
# expected output:
#| k.cl:3:15: error: typedef redefinition
