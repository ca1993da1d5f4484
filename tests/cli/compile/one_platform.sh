#!/bin/bash
# Short tests of a compile, on one platform.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform

### color
echo 'kernel void k(global int* a) { *a = x; }' > k.cl
oclcc --color k.cl 2>&1 | grep error: | cat -v
oclcc --color=never k.cl 2>&1 | grep error:
NO_COLOR=1 oclcc --color=always k.cl 2>&1 | grep error: | cat -v
oclcc k.cl 2>&1 | grep error:
if command -v script > /dev/null; then
  script -qec 'oclcc k.cl' /dev/null < /dev/null | grep -a error: | tr -d '\r' | cat -v | sed 's/.*\(\^\[\[1mk.cl\)/\1/'
  NO_COLOR=1 script -qec 'oclcc k.cl' /dev/null < /dev/null | grep -a error: | tr -d '\r' | sed 's/.*\(k.cl:\)/\1/'
fi
# expected output:
#| ^[[1mk.cl:1:37:^[[0m ^[[1;31merror:^[[0m use of undeclared identifier 'x'
#| k.cl:1:37: error: use of undeclared identifier 'x'
#| ^[[1mk.cl:1:37:^[[0m ^[[1;31merror:^[[0m use of undeclared identifier 'x'
#| k.cl:1:37: error: use of undeclared identifier 'x'
#| ^[[1mk.cl:1:37:^[[0m ^[[1;31merror:^[[0m use of undeclared identifier 'x'
#| k.cl:1:37: error: use of undeclared identifier 'x'

### embed
# Embedding in one step writes the same bytes as embedding a bundle.
set -e
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl -o k.clbin
for form in h c s o; do
  oclcc k.clbin -o "two_steps.$form" --symbol k_clbin
  oclcc k.cl -o "k.$form"
done
for form in c s o; do
  cmp "k.$form" "two_steps.$form" && echo "$form same"
done
cmp k.h two_steps.h && echo "h same"
# expected output:
#| c same
#| s same
#| o same
#| h same

### error_leaves_no_output
echo 'kernel void k(global int* a) { *a = x; }' > k.cl
oclcc k.cl -o new.clbin 2> /dev/null; echo "exit $?"
echo untouched > old.clbin
oclcc k.cl -o old.clbin 2> /dev/null; echo "exit $?"
cat old.clbin
ls -A
# expected output:
#| exit 1
#| exit 1
#| untouched
#| k.cl
#| old.clbin

### forced_include
mkdir inc
echo '#define A 1' > a.h
echo '#define B (A + 1)' > inc/b.h
echo 'kernel void k(global int* a) { *a = B; }' > k.cl
oclcc -include a.h -I inc -include b.h k.cl; echo "exit $?"
echo '
kernel void k(global int* a) { *a = B + x; }' > k.cl
oclcc -include a.h -I inc -include b.h k.cl 2> errors; echo "exit $?"
grep error errors
# expected output:
#| exit 0
#| exit 1
#| k.cl:2:41: error: use of undeclared identifier 'x'

### keep_going
# --keep-going leaves out programs that do not compile, and the exit status is still 1.
# One program compiles, and the other does not.
echo 'kernel void good(global int* a) { *a = 1; }' > good.cl
echo 'kernel void bad(global int* a) { *a = x; }' > bad.cl
oclcc good.cl bad.cl -o both.clbin 2> /dev/null; echo "exit $?"
ls
oclcc --keep-going good.cl bad.cl -o both.clbin 2> /dev/null; echo "exit $?"
oclcc --info -v both.clbin | grep '^program'
# expected output:
#| exit 1
#| bad.cl
#| good.cl
#| exit 1
#| program 'good', variant 'default'

### language
# -x cl is accepted and has no effect. Other languages are rejected.
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc -x cl - -o stdin.clbin < k.cl; echo "exit $?"
oclcc --info -v stdin.clbin | grep '^program' | uniq
cp k.cl k.txt
oclcc -xcl k.txt; echo "exit $?"
oclcc -x none k.cl; echo "exit $?"
for language in c c++ clc++ ''; do oclcc -x "$language" k.cl; echo "exit $?"; done
ls
# expected output:
#| exit 0
#| program 'stdin', variant 'default'
#| exit 0
#| exit 0
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| k.cl
#| k.clbin
#| k.txt
#| stdin.clbin
# expected errors:
#| oclcc: error: oclcc compiles OpenCL C: '-x' accepts cl or none, not 'c'
#| oclcc: error: oclcc compiles OpenCL C: '-x' accepts cl or none, not 'c++'
#| oclcc: error: oclcc compiles OpenCL C: '-x' accepts cl or none, not 'clc++'
#| oclcc: error: option '-x' needs a value: -x cl

### long_spellings
# The long names of -j, -q and -v, and a sufficient memory limit.
echo '#warning careful
kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc --quiet --jobs 2 --memory-limit=none k.cl; echo "exit $?"
oclcc --verbose --jobs=1 -fsyntax-only k.cl 2> log; echo "exit $?"
[ "$(grep -c 'bytes$' log)" -ge "$device_count" ] || cat log
# expected output:
#| exit 0
#| exit 0

### manual_examples
# The commands in the manual pages of oclcc and clbin(5) work as printed, one after another.
echo 'kernel void k(global float* p) { *p = 1; }' > kernel.cl
first=$(echo "$devices" | head -1)
oclcc kernel.cl --device "$first" -o a.clbin
oclcc kernel.cl -o b.clbin
"$ROOT/tests/fuzz/seeds.py" unpack . "$ROOT/tests/fuzz/corpus/containers.seeds"
mv containers/fatbin_zstd nvcc.fatbin
mv containers/offload_bundle_zstd hip.o
{
  sed -n 's/^\.Dl \(oclcc .*\)$/\1/p; s/^\.Ic \(oclcc .*\)$/\1/p' "$ROOT"/man/oclcc.1 "$ROOT"/man/oclcc-*.7
  sed -n 's/^\.Dl \(od .*\)$/\1/p' "$ROOT/man/clbin.5"
} > examples
while IFS= read -r example; do
  [ -e kernel.clbin ] || cp b.clbin kernel.clbin
  bash -c "$example" > output 2> errors
  status=$?
  # Without a GPU, an example that requires one must fail.
  case "$example" in *'--device gpu'*) [ $status = 5 ] && status=0 ;; esac
  [ $status = 0 ] || { echo "exit $status: $example"; cat errors; }
  case "$example" in 'od '*) head -1 output ;; esac
done < examples
sed -n '/^import hashlib$/,/^\.Ed$/p' "$ROOT/man/clbin.5" | sed '$d' > check.py
oclcc kernel.cl -o kernel.clbin && python3 check.py
byte=$(od -An -tu1 -j70 -N1 kernel.clbin)
printf "\\$(printf %03o $((byte ^ 1)))" | dd of=kernel.clbin bs=1 seek=70 conv=notrunc status=none && python3 check.py
[ -s kernel.hpp ] && [ -s smaller.clbin ] && [ "$(ls binaries)" ] && [ "$(wc -l < examples)" -ge 10 ] && echo "done"
# expected output:
#| 0000000 c7 43 4c 42 4e 0d 0a 1a 01 00 00 00 *
#| good
#| damaged
#| done

### missing_include
# The error points at the #include line, in the file that contains it. An #include in a branch that
# is not taken is no error.
mkdir sub
printf '\n#include "sub/h.h"\nkernel void k(global int* a) { *a = 1; }\n' > k.cl
printf '#if 0\n#include "skipped.h"\n#endif\n  #include "absent.h"\n' > sub/h.h
oclcc k.cl 2> errors; echo "exit $?"
grep -c '^sub/h.h:4:12: error: .absent.h. file not found' errors
grep -i skipped errors
sed -i '$d' sub/h.h
oclcc k.cl; echo "exit $?"
# expected output:
#| exit 1
#| 1
#| exit 0

### names_with_spaces
mkdir 'dé r'
echo '#define A 1' > 'dé r/h é.h'
echo '#include "h é.h"
kernel void k(global int* a) { *a = A; }' > 'dé r/k é.cl'
oclcc 'dé r/k é.cl'; echo "exit $?"
ls
# expected output:
#| exit 0
#| dé r
#| k é.clbin

### no_kernel
echo 'int f(int a) { return a; }' > k.cl
oclcc k.cl; echo "exit $?"
ls
# expected output:
#| exit 0
#| k.cl
#| k.clbin
# expected errors:
#| oclcc: warning: k.cl: it contains no kernel

### no_source
echo 'kernel void k(global int* a) { *a = 12345; }' > k.cl
oclcc k.cl --no-source
oclcc --info -v k.clbin | grep source
oclcc k.cl
oclcc --info -v k.clbin | grep source
# expected output:
#|   source    not kept
#|   source    kept: 1 file, 45 bytes

### readme_examples
# The commands in README work as printed.
mkdir include
echo '#define N 1' > include/n.h
echo 'kernel void k(global float* p) { *p = 1; }' | tee scale.cl > k.cl
echo 'kernel void blur(global const float* in, global float* out) { *out = *in; }' > blur.cl
echo '#include <n.h>
kernel void k(global float* p) { *p = TILE + N; }' | tee a.cl > b.cl
cp "$ROOT/tests/unit/format/binaries/arguments.spv" library.spv
oclcc k.cl library.spv -q -o old.clbin
# Not the recording of an application (tests/install_test/readme_test.sh).
sed -n 's/^\$ \(oclcc .*\)$/\1/p' "$ROOT/README.md" | grep -v recorded.clbin > examples
while IFS= read -r example; do
  bash -c "$example" > /dev/null 2> errors
  status=$?
  # Without a GPU or a compiler, an example that requires one must fail.
  case "$example" in *'--device gpu'* | *'--target '*) [ $status = 5 ] && status=0 ;; esac
  [ $status = 0 ] || { echo "exit $status: $example"; cat errors; }
done < examples
[ "$(wc -l < examples)" -ge 5 ] && echo "done"
# expected output:
#| done

### several_programs
mkdir a b
echo 'kernel void first(global int* a) { *a = 1; }' > a/k.cl
echo 'kernel void second(global int* a) { *a = 2; }' > b/k.cl
oclcc a/k.cl --program other=b/k.cl -o both.clbin
oclcc --info -v both.clbin | grep -E '^program|^ +kernel ' | uniq
# expected output:
#| program 'k', variant 'default'
#|     kernel    first(global int* a)
#| program 'other', variant 'default'
#|     kernel    second(global int* a)

### standard_input_and_output
echo 'kernel void k(global int* a) { *a = 1; }' | oclcc - -o - > k.clbin
oclcc --info -v k.clbin | grep '^program'
echo 'kernel void k(global int* a) { *a = 1; }' | oclcc -; echo "exit $?"
echo 'kernel void k(global int* a) { *a = x; }' | oclcc - -o - > none; echo "exit $?"
wc -c < none
# expected output:
#| program 'stdin', variant 'default'
#| exit 2
#| exit 1
#| 0
# expected errors:
#| oclcc: error: a bundle from standard input has no default name: name it with -o
#| <stdin>:1:37: error: use of undeclared identifier 'x'
#|     1 | kernel void k(global int* a) { *a = x; }
#|       |                                     ^

### undefine
# OpenCL has no -U. The last of -D and -U counts, also for macros that the compiler predefines.
echo 'kernel void k(global int* a) { *a = X; }' > k.cl
oclcc -DX=1 -UX k.cl 2> errors; echo "exit $?"
grep -o "k.cl:1:37: error: use of undeclared identifier 'X'" errors
oclcc -UX -D X=1 k.cl; echo "exit $?"
oclcc -DX=1 k.cl --variant without=-UX 2> errors; echo "exit $?"
grep -o "k.cl:1:37: error: use of undeclared identifier 'X'" errors
echo '#ifdef __OPENCL_VERSION__
#error it is there
#endif
kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc -U__OPENCL_VERSION__ k.cl; echo "exit $?"
# expected output:
#| exit 1
#| k.cl:1:37: error: use of undeclared identifier 'X'
#| exit 0
#| exit 1
#| k.cl:1:37: error: use of undeclared identifier 'X'
#| exit 0

### variants
echo 'kernel void k(global int* a) { *a = V + W; }' > k.cl
oclcc k.cl -DW=1 --variant one=-DV=1 --variant two='-DV=2 -cl-fast-relaxed-math'
oclcc --info -v k.clbin | grep -E '^program|^  options'
oclcc k.cl -DW=1 --variant one=-DV=1 --variant bad=-DX -o other.clbin > out 2>&1; echo "exit $?"
grep -o "k.cl:1:37: error: use of undeclared identifier 'V'" out | sort -u
ls
# expected output:
#| program 'k', variant 'one'
#|   options   -DW=1 -DV=1
#| program 'k', variant 'two'
#|   options   -DW=1 -DV=2 -cl-fast-relaxed-math
#| exit 1
#| k.cl:1:37: error: use of undeclared identifier 'V'
#| k.cl
#| k.clbin
#| out
