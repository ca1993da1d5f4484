#!/bin/bash
# Short tests of a compile, on every platform.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"

### cl_option
# oclcc passes OpenCL's options on and records them. The driver decides about unknown -cl- options.
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc -cl-fast-relaxed-math -cl-std=CL1.2 k.cl; echo "exit $?"
oclcc --info -v k.clbin | grep '^  options'
oclcc -cl-no-such-option k.cl 2> errors; echo "exit $?"
[ -s errors ] || echo "no message"
grep -v -E '^k.cl: |^oclcc: (error|note): ' errors
true
# expected output:
#| exit 0
#|   options   -cl-fast-relaxed-math -cl-std=CL1.2
#| exit 1

### define
# Every compiler gets each spelling of -D as the shell passed it.
cat > k.cl << 'END'
#if !defined(A) || B != 2 || F(1, 2) != 1 || SUM != 3 || defined(GONE)
#error a macro is wrong
#endif
constant char text[] = TEXT;
kernel void k(global char* a) { *a = text[0] + TAB; }
END
oclcc -DA -D B=2 '-DF(a,b)=a' '-DSUM=1 + 2' '-DTEXT="a \"b\""' "-DTAB='\\t'" -DGONE -UGONE k.cl
[ "$(entries k.clbin)" = "$device_count" ] || echo "$(entries k.clbin) entries"
oclcc --info -v k.clbin | grep '^  options'
# expected output:
#|   options   -DA -DB=2 -DF(a,b)=a

### device_option
# Options for matching devices are recorded in their entries. A fallback to source does not use
# them.
first=$(echo "$devices" | head -1)
echo '#ifdef WRONG
#error wrong device
#endif
kernel void k(global int* a) { *a = X; }' > k.cl
oclcc k.cl -DX=1 --device-option "$first=-DX=2 -DONLY" --device-option all=-DALL; echo "exit $?"
[ "$device_count" -gt 1 ] || echo "    options   -DX=1 -DALL"
oclcc --info -v k.clbin | grep options | sort | uniq
oclcc --device "$first" k.cl -DX=1 --device-option "$first=-DWRONG" 2> errors; echo "exit $?"
grep -o '^k.cl:2:2: error: wrong device' errors
oclcc k.cl -DX=1 --device "$first" --device-option 'no such=-w' 2> errors; echo "exit $?"
grep -o "no device matches 'no such'; there are" errors
oclcc k.cl --device-option all; echo "exit $?"
oclcc k.cl --device-option all=-MD; echo "exit $?"
oclcc k.cl --device-option all='-I x'; echo "exit $?"
oclcc k.cl --variant v=-fsyntax-only; echo "exit $?"
# expected output:
#| exit 0
#|     options   -DX=1 -DALL
#|     options   -DX=2 -DONLY -DALL
#|   options   -DX=1
#| exit 1
#| k.cl:2:2: error: wrong device
#| exit 5
#| no device matches 'no such'; there are
#| exit 2
#| exit 2
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: '--device-option' requires PATTERN=OPTIONS, not 'all'
#| oclcc: error: --device-option all: '-MD' is not one of -D, -U, -cl-*, -g, -O*, -w and -Werror
#| oclcc: error: --device-option all: '-I' is not one of -D, -U, -cl-*, -g, -O*, -w and -Werror
#| oclcc: error: variant 'v': '-fsyntax-only' is not one of -D, -U, -cl-*, -g, -O*, -w and -Werror

### emit_cubin
# ptxas makes a cubin beside the PTX of each NVIDIA device. Other devices get the same as without.
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl -o plain.clbin
nvidia_count=$(oclcc --info -v plain.clbin | grep -c '^  entry.*PTX')
if [ "$nvidia_count" -gt 0 ] && ! PATH="$PATH:/usr/local/cuda/bin" command -v ptxas > /dev/null; then
  oclcc --emit-cubin k.cl -o cubin.clbin
  status=$?
  [ $status -eq 5 ] && [ ! -e cubin.clbin ] && echo "as it should be"
  exit
fi
oclcc --emit-cubin k.cl -o cubin.clbin || exit
cubin_count=$(oclcc --info -v cubin.clbin | grep -c '^  entry.*cubin')
if [ "$nvidia_count" -eq 0 ]; then
  cmp plain.clbin cubin.clbin && echo "as it should be"
elif [ "$cubin_count" -eq "$nvidia_count" ]; then
  echo "as it should be"
fi
# expected output:
#| as it should be

### every_device
# One entry for each device. Success prints nothing. The output is named after the stem, with
# ".clbin".
mkdir src
echo 'kernel void k(global int* a) { *a = 1; }' > src/k.cl
oclcc src/k.cl
ls
[ "$(entries k.clbin)" = "$device_count" ] || echo "$(entries k.clbin) entries"
oclcc --info -v k.clbin | grep -E '^program|source|^ +kernel ' | sort -u
# expected output:
#| k.clbin
#| src
#|     kernel    k(global int* a)
#|   source    kept: 1 file, 41 bytes
#| program 'k', variant 'default'

### include
# Nested folders, the same name twice, -I in order, angled names, guards, a macro, __has_include,
# and a branch not taken. Every device builds the program, first with the source tree, then without.
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
oclcc --info -v k.clbin | grep source
# expected output:
#|   source    kept: 8 files, 465 bytes

### odd_definitions
# A definition is one line: a backslash at its end does not join the program's first line to it.
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc '-DX=a\' '-DY=a b\' $'-DZ=1\r#error no line of its own' k.cl
[ "$(oclcc --info -v k.clbin | grep -c '^    kernel    k(')" = "$device_count" ] || oclcc --info -v k.clbin

### prefix_map
# File names of #line are mapped in the binaries and in the bundle, but not in messages.
mkdir one two
for folder in one two; do
  echo "#line 1 \"$PWD/$folder/gen/k.y\"
#include \"h.h\"
kernel void k(global char* a) { *a = __FILE__[0]; }" > $folder/k.cl
  echo "#line 7 \"$PWD/$folder/gen/h.y\"
#ifdef BAD
#error bad
#endif" > $folder/h.h
done
# The last matching mapping applies. Also the other spellings of the option.
(cd one && oclcc k.cl -ffile-prefix-map="$PWD"=/src -o k.clbin; echo "exit $?")
(cd two && oclcc k.cl -fmacro-prefix-map=/=/wrong/ -fdebug-prefix-map="$PWD"=/src -o k.clbin; echo "exit $?")
cmp one/k.clbin two/k.clbin
oclcc one/k.cl -o plain.clbin
cmp -s one/k.clbin plain.clbin && echo 'nothing was mapped'
oclcc --extract one/k.clbin -o out > /dev/null 2>&1
cat -- out/*.cl out/*/*.cl 2> /dev/null | grep -h '^#line' | sort -u
grep -rl "$PWD" out one/k.clbin
oclcc one/k.cl --device 0:0 -DBAD -ffile-prefix-map="$PWD/one"=/src -o bad.clbin 2> errors; echo "exit $?"
sed "s|$PWD|PWD|" errors | grep -o '^PWD/one/gen/h.y:8:2: error: bad' | sort -u
oclcc one/k.cl -ffile-prefix-map=x; echo "exit $?"
# expected output:
#| exit 0
#| exit 0
#| #line 1 "/src/gen/k.y"
#| exit 1
#| PWD/one/gen/h.y:8:2: error: bad
#| exit 2
# expected errors:
#| oclcc: error: '-ffile-prefix-map' requires OLD=NEW, not 'x'

### same_bytes
# The bytes are the same in another folder, with other caches, another number of compilers and
# another path to the file.
export CLBIN_CACHE=0
for place in one another/place; do
  mkdir -p "$place/inc" "$place/home" "$place/tmp"
  echo '#include "inc/h.h"
kernel void k(global int* a) { *a = ONE; }' > "$place/k.cl"
  echo '#include "beside.h"' > "$place/inc/h.h"
  echo '#define ONE 1' > "$place/inc/beside.h"
done
(cd one && POCL_CACHE_DIR=$PWD/home oclcc -j1 k.cl)
(cd another/place && POCL_CACHE_DIR=$PWD/home XDG_CACHE_HOME=$PWD/home oclcc -j2 "$PWD/k.cl")
cmp one/k.clbin another/place/k.clbin
oclcc one/k.cl -o from_above.clbin
cmp one/k.clbin from_above.clbin

### syntax_only
# Every driver compiles, and only the dependency rule is written, if requested.
oclcc_one() { oclcc --device 0:0 "$@"; }
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
echo 'kernel void k(global int* a) { *a = x; }' > bad.cl
oclcc_one -fsyntax-only k.cl; echo "exit $?"
oclcc_one -fsyntax-only k.cl -o no/such/folder/k.clbin; echo "exit $?"
oclcc_one -fsyntax-only - < k.cl; echo "exit $?"
oclcc_one -fsyntax-only k.cl bad.cl 2> errors; echo "exit $?"
grep -o "^bad.cl:1:37: error: use of undeclared identifier 'x'" errors
oclcc_one -fsyntax-only -MD k.cl; echo "exit $?"
cat k.d
oclcc -fsyntax-only k.cl -v 2>&1 | grep -c 'bytes$' | sed "s/^$device_count\$/built for every device/"
ls
# expected output:
#| exit 0
#| exit 0
#| exit 0
#| exit 1
#| bad.cl:1:37: error: use of undeclared identifier 'x'
#| exit 0
#| k.clbin: k.cl
#| built for every device
#| bad.cl
#| errors
#| k.cl
#| k.d

### variant_definitions
# Every compiler gets each variant's own definitions, quoted or undefined.
cat > k.cl << 'END'
#include HEADER
constant char text[] = TEXT;
#if defined(BASE) != BASE_WANTED || SUM != 3 || FROM != FROM_WANTED
#error a macro is wrong
#endif
kernel void k(global char* a) { *a = text[0]; }
END
echo '#define FROM 1' > a.h
echo '#define FROM 2' > b.h
oclcc k.cl -DBASE '-DTEXT="base"' '-DHEADER="a.h"' '-DSUM=1 + 2' -DFROM_WANTED=1 \
  --variant plain=-DBASE_WANTED=1 \
  --variant odd='-UBASE -DBASE_WANTED=0 "-DTEXT=\"a \\\"b\\\"\"" "-DHEADER=\"b.h\"" -DFROM_WANTED=2'
oclcc --info -v k.clbin | grep -E '^program|^  options'
[ "$(entries k.clbin)" = $((2 * device_count)) ] || echo "$(entries k.clbin) entries"
# expected output:
#| program 'k', variant 'odd'
#|   options   -DBASE_WANTED=0 -DOCLCC_OPTION_16766c8a92359110 -DOCLCC_OPTION_7a1b76a5c94f0d49 -DFROM_WANTED=2
#| program 'k', variant 'plain'
#|   options   -DBASE -DOCLCC_OPTION_d8355376929ef40b -DOCLCC_OPTION_ce0404604efe56db -DFROM_WANTED=1 -DBASE_WANTED=1

### verbose
# -v prints complete build logs.
echo 'kernel void k(global int* a) { *a = x; }' > k.cl
oclcc -v k.cl 2> log; echo "exit $?"
[ "$(grep -c "use of undeclared identifier 'x'" log)" -gt "$device_count" ] || cat log
# expected output:
#| exit 1

### verify_run
# --verify --run loads each entry on its device. It names entries that a driver rejects, and entries
# that fit no device here.
echo "kernel void k(global int* a) { *a = 1; }" > k.cl
oclcc k.cl -o k.clbin
oclcc --verify --run k.clbin; echo "exit $?"
[ "$(oclcc -v --verify --run k.clbin 2>&1 | grep -c ": loads$")" = "$device_count" ] && echo "all load"
oclcc --verify --run --json k.clbin > v.json; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/verify.schema.json" < v.json
[ "$(grep -c "\"loads\": true" v.json)" = "$device_count" ] && echo "all told"
make_bundle sample s.clbin
oclcc --strip --drop-target "nvptx:*" s.clbin
oclcc --verify --run s.clbin; echo "exit $?"
oclcc --verify --run --device no-such-device k.clbin 2> /dev/null; echo "exit $?"
# expected output:
#| exit 0
#| all load
#| exit 0
#| fits the schema
#| all told
#| exit 0
#| exit 5
# expected errors:
#| oclcc: note: s.clbin: 3 of 3 entries match no device of this machine: not run

### verify_run_refused
# Entries that do not load are reported for each device. Drivers never get recorded options that
# could make a compiler read or write files.
echo "kernel void k(global int* a) { *a = 1; }" > k.cl
oclcc k.cl -o k.clbin

# told BUNDLE TEXT: exit 1, and a line with TEXT for every device.
told() {
  oclcc --verify --run "$1" 2> told; echo "$1: exit $?"
  [ "$(grep -c "^oclcc: error: $1: program 'k', variant 'default', entry for .* on '.*': .*$2" told)" \
    = "$device_count" ] || cat told
}
make_bundle options k.clbin "-include /etc/passwd" hostile.clbin
told hostile.clbin "the bundle's build options contain '-include', which libclbin does not pass to a compiler"
make_bundle kernel k.clbin absent kernel.clbin
told kernel.clbin "absent"
make_bundle cut k.clbin cut.clbin
told cut.clbin "\(clCreateProgramWithBinary\|clBuildProgram\|clGetProgramInfo\) answered CL_\|the compiler of .* crashed"

oclcc --verify --run --json hostile.clbin k.clbin > v.json 2> /dev/null; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/verify.schema.json" < v.json
[ "$(grep -c '"loads": false' v.json)" = "$device_count" ] || cat v.json
[ "$(grep -c '"loads": true' v.json)" = "$device_count" ] || cat v.json
# expected output:
#| hostile.clbin: exit 1
#| kernel.clbin: exit 1
#| cut.clbin: exit 1
#| exit 1
#| fits the schema

### werror
# Also on drivers that ignore -w and -Werror (Oclgrind 21.10).
echo '#warning careful
kernel void k(global int* a) { *a = 1; }' > k.cl
for platform in "$OCL_ICD_VENDORS"/*.icd; do
  export OCL_ICD_VENDORS=$platform # a run with --device starts the other drivers, too
  for device in $(list_devices | awk '{print $1}'); do
    # rusticl 22.3 has no log for a build that succeeds.
    oclcc --device "$device" k.cl 2> warnings || echo "$platform $device: a warning is an error"
    grep -v -E '^k.cl:1:2: warning: careful|^    1 \| #warning careful$|^      \|  \^$' warnings
    oclcc --device "$device" -w k.cl || echo "$platform $device: -w"
    oclcc --device "$device" -q k.cl || echo "$platform $device: -q"
    oclcc --device "$device" -w -Werror k.cl || echo "$platform $device: -w -Werror"
    rm k.clbin
    oclcc --device "$device" -Werror k.cl 2> errors && echo "$platform $device: a warning is no error"
    grep -q '^k.cl:1:2: error: careful' errors || { echo "$platform $device:"; cat errors; }
    ls *.clbin 2> /dev/null
  done
done
true
