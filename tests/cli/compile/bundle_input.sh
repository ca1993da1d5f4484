#!/bin/bash
# A bundle as the input of a compile.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
see_only Oclgrind
try() {
  oclcc "$@"
  echo "exit $?"
}

### bundle_input
# A bundle as the input of a compile: its programs are built anew, and all else stays.
cat > tile.h << 'END'
#define TILE 4
END
cat > a.cl << 'END'
#include "tile.h"
kernel void scale(global float* a) { a[get_global_id(0)] *= FACTOR * TILE; }
END
echo 'kernel void fill(global int* a) { a[get_global_id(0)] = 1; }' > b.cl
oclcc a.cl --source-only --variant two=-DFACTOR=2 --variant three=-DFACTOR=3 -o a.clbin
oclcc b.cl --source-only -o b.clbin
oclcc --merge a.clbin b.clbin -o app.clbin
mv tile.h moved.h
cp app.clbin sources.clbin

echo "== in place, for one device"
try app.clbin --device "$device" -o app.clbin
oclcc --info -v app.clbin | grep -E '^(program|  source|variant|  entry|    (options|kernel))'
oclcc --verify app.clbin
cp app.clbin once.clbin
echo "== without the source"
try app.clbin --device "$device" --no-source -o bare.clbin
oclcc --info -v bare.clbin | grep -E '^(program|  source|  entry)'
echo "== again: the same bytes, from the cache or not, with any -j"
oclcc -v app.clbin --device "$device" -o app.clbin 2>&1 | grep -o 'compile cache: hit\|bundle: .*'
cmp app.clbin once.clbin
try --no-cache -j1 sources.clbin --device "$device" -o one_job.clbin
try --no-cache -j3 sources.clbin --device "$device" -o three_jobs.clbin
cmp one_job.clbin three_jobs.clbin
echo "== of several bundles, their union"
try a.clbin b.clbin --device "$device" -o both.clbin
entries both.clbin
echo "== what was not built stays, byte for byte"
make_bundle sample other.clbin
oclcc --strip --strip-source other.clbin -o binaries.clbin
oclcc --merge sources.clbin binaries.clbin -o mixed.clbin
oclcc --extract binaries.clbin -o before
try mixed.clbin --device "$device" -o mixed.clbin
name=$(oclcc --info -v app.clbin | sed -n 's/^    device    //p' | head -1)
oclcc -q --strip --drop-target "$name" --strip-source mixed.clbin -o rest.clbin
oclcc --extract rest.clbin -o after
diff -r before after
entries mixed.clbin
echo "== one binary of it"
try b.clbin --device "$device" -o b.bin
test -s b.bin || echo "no binary"
try a.clbin --device "$device" -o a.bin
echo "== the rule lists the bundle; -fsyntax-only writes nothing"
try a.clbin --device "$device" -o new.clbin -MD
cat new.d
rm new.*
try a.clbin --device "$device" -fsyntax-only
try a.clbin --device "$device" -o new.clbin -MD -MF a.clbin
echo "== the recorded sizes of launches"
see_only 'Portable Computing Language'
make_bundle recording b.cl b default '' fill cpu-a 'fill 1 64 1 1;fill 2 16 4 1;fill 1 0 0 0;none 1 8 1 1;fill 1 99999 1 1' sizes.clbin
try sizes.clbin --device "$device" -o sizes.clbin
try sizes.clbin --device "$device" --specialize fill=4 -o sized.clbin
oclcc --info -v sized.clbin | grep -o 'specialized for.*'
oclcc --info -v sizes.clbin | grep -o 'specialized for.*\|^  launched.*\|^  built on  cpu-a'
ls
# expected output:
#| == in place, for one device
#| exit 0
#| program 'a', variant 'three'
#|   source    kept: 2 files, 110 bytes
#|   entry     LLVM bitcode
#|     kernel    scale(global float* a)
#| program 'a', variant 'two'
#|   source    kept: 2 files, 110 bytes
#|   entry     LLVM bitcode
#|     kernel    scale(global float* a)
#| program 'b', variant 'default'
#|   source    kept: 1 file, 61 bytes
#|   entry     LLVM bitcode
#|     kernel    fill(global int* a)
#| == without the source
#| exit 0
#| program 'a', variant 'three'
#|   source    not kept
#|   entry     LLVM bitcode
#| program 'a', variant 'two'
#|   source    not kept
#|   entry     LLVM bitcode
#| program 'b', variant 'default'
#|   source    not kept
#|   entry     LLVM bitcode
#| == again: the same bytes, from the cache or not, with any -j
#| compile cache: hit
#| compile cache: hit
#| compile cache: hit
#| bundle: from the compile cache
#| exit 0
#| exit 0
#| == of several bundles, their union
#| exit 0
#| 3
#| == what was not built stays, byte for byte
#| exit 0
#| 10
#| == one binary of it
#| exit 0
#| exit 2
#| == the rule lists the bundle; -fsyntax-only writes nothing
#| exit 0
#| new.clbin: a.clbin
#| exit 0
#| exit 2
#| == the recorded sizes of launches
#| exit 0
#| exit 0
#| specialized for 4x1x1, 16x4x1, 64x1x1
#|   built on  cpu-a
#|   launched  fill: NULL in 1 dimension, 64, 99999, 16x4
#|   launched  none: 8
#| specialized for 16x4x1, 64x1x1
#| a.cl
#| a.clbin
#| after
#| app.clbin
#| b.bin
#| b.cl
#| b.clbin
#| bare.clbin
#| before
#| binaries.clbin
#| both.clbin
#| mixed.clbin
#| moved.h
#| once.clbin
#| one_job.clbin
#| other.clbin
#| rest.clbin
#| sized.clbin
#| sizes.clbin
#| sources.clbin
#| three_jobs.clbin
# expected errors:
#| oclcc: warning: mixed.clbin: program 'matmul' is not built, and its entries are kept: it has no source
#| oclcc: warning: mixed.clbin: program 'reduce' is not built, and its entries are kept: it has no source
#| oclcc: error: 'a.bin' can contain only one device binary, but 2 different ones were built; select one with --device or --target
#| oclcc: error: 'a.clbin' is both an input and the output

### bundle_input_errors
# A bundle as the input of a compile: programs that do not compile, and options that have no effect.
echo 'kernel void good(global int* a) { *a = 1; }' > good.cl
mkdir sub
cat > sub/bad.cl << 'END'
#include "bad.h"
kernel void bad(global int* a) { *a = VALUE; }
END
cat > sub/bad.h << 'END'

#define VALUE undefined_name
END
oclcc good.cl sub/bad.cl --source-only -o app.clbin
rm sub/bad.h
echo "== messages name the files of the program"
try app.clbin --device "$device" -o new.clbin
echo "== --keep-going and --optional"
try app.clbin --device "$device" --keep-going -o new.clbin
entries new.clbin
oclcc --info -v new.clbin | grep '^program'
try app.clbin --device "$device" --optional bad -o new.clbin
entries new.clbin
try app.clbin --device "$device" --optional other -o new.clbin
echo "== no file of this machine is read"
cat > reads.cl << 'END'
#ifdef READ
#include "secret.h"
#endif
kernel void reads(global int* a) { *a = 1; }
END
oclcc reads.cl --source-only -DREAD -o reads.clbin 2>/dev/null
echo 'int secret;' > secret.h
try reads.clbin --device "$device" -o new.clbin
echo "== options that no compiler may be given"
oclcc good.cl --source-only --variant safe=-DX --variant unsafe=-cl-x=/etc/passwd -o unsafe.clbin
try unsafe.clbin --device "$device" -o new.clbin
entries new.clbin
oclcc good.cl --source-only -cl-x=/etc/passwd -o unsafe.clbin
try unsafe.clbin --device "$device" -o new.clbin
echo "== without any source"
make_bundle sample sample.clbin
oclcc --strip --strip-source sample.clbin
try sample.clbin --device "$device" -o new.clbin
echo "== sizes"
oclcc good.cl --source-only
try good.clbin --device "$device" --specialize none=4 -o new.clbin
echo "== no name, no bundle"
try good.clbin --device "$device"
try good.clbin good.cl --device "$device" -o new.clbin
try good.clbin good.clbin --device "$device" -o new.clbin
try good.clbin --device none -o new.clbin
try good.clbin --device "$device" -DX -o new.clbin
try good.clbin --device "$device" -o new.h
try good.clbin --device "$device" --emit bin -o good.clbin
head -c 500 good.clbin > cut.clbin
try cut.clbin --device "$device" -o new.clbin
ls
# expected output:
#| == messages name the files of the program
#| exit 1
#| == --keep-going and --optional
#| exit 1
#| 1
#| program 'bad', variant 'default'
#| program 'good', variant 'default'
#| exit 0
#| 1
#| exit 2
#| == no file of this machine is read
#| exit 1
#| == options that no compiler may be given
#| exit 0
#| 1
#| exit 4
#| == without any source
#| exit 2
#| == sizes
#| exit 2
#| == no name, no bundle
#| exit 2
#| exit 2
#| exit 0
#| exit 5
#| exit 2
#| exit 2
#| exit 2
#| exit 4
#| app.clbin
#| cut.clbin
#| good.cl
#| good.clbin
#| new.clbin
#| reads.cl
#| reads.clbin
#| sample.clbin
#| secret.h
#| sub
#| unsafe.clbin
# expected errors:
#| bad.cl:2:39: error: use of undeclared identifier 'undefined_name'
#|     2 | kernel void bad(global int* a) { *a = VALUE; }
#|       |                                       ^
#| bad.h:2:15: note: expanded from macro 'VALUE'
#|     2 | #define VALUE undefined_name
#|       |               ^
#| bad.cl:2:39: error: use of undeclared identifier 'undefined_name'
#|     2 | kernel void bad(global int* a) { *a = VALUE; }
#|       |                                       ^
#| bad.h:2:15: note: expanded from macro 'VALUE'
#|     2 | #define VALUE undefined_name
#|       |               ^
#| app.clbin: program 'bad': warning: optional program 'bad' does not compile: it is built from source when it is loaded [on '*']
#| bad.cl:2:39: note: use of undeclared identifier 'undefined_name'
#|     2 | kernel void bad(global int* a) { *a = VALUE; }
#|       |                                       ^
#| oclcc: error: '--optional other': there is no program 'other'; there are 'bad', 'good'
#| reads.cl:2:2: error: the bundle does not contain this header: "secret.h"
#|     2 | #error the bundle does not contain this header: "secret.h"
#|       |  ^
#| oclcc: warning: unsafe.clbin: program 'good', variant 'unsafe' is not built, and its entries are kept: the bundle's build options contain '-cl-x=/etc/passwd', which libclbin does not pass to a compiler: it passes only -D, -U, -cl-*, -w, -W*, -O*, -g and -x spir
#| oclcc: warning: unsafe.clbin: program 'good', variant 'default' is not built, and its entries are kept: the bundle's build options contain '-cl-x=/etc/passwd', which libclbin does not pass to a compiler: it passes only -D, -U, -cl-*, -w, -W*, -O*, -g and -x spir
#| oclcc: error: unsafe.clbin: no program of it can be built
#| oclcc: warning: sample.clbin: program 'matmul' is not built, and its entries are kept: it has no source
#| oclcc: warning: sample.clbin: program 'reduce' is not built, and its entries are kept: it has no source
#| oclcc: error: sample.clbin: no program of it can be built
#| oclcc: error: '--specialize none=4x1x1': there is no kernel 'none'; there is 'good'
#| oclcc: error: 'good.clbin' is a bundle: name the output with '-o'; it may be the bundle itself
#| oclcc: note: to see its contents: oclcc --info good.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: error: 'good.clbin' is a bundle, and 'good.cl' is not: compile the other inputs without the bundle, and merge both results
#| oclcc: note: to see its contents: oclcc --info good.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: error: no device matches 'none'; there are *
#| oclcc: error: '-D' cannot be used with 'good.clbin', which is a bundle: its programs are built as they were recorded
#| oclcc: note: to see its contents: oclcc --info good.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: error: '--device' cannot be used with 'good.clbin', which is a bundle: nothing is compiled
#| oclcc: error: 'good.clbin' is both an input and the output
#| oclcc: note: to see its contents: oclcc --info good.clbin; '-o k.o' embeds it; '--merge', '--strip' and '--repack' change it
#| oclcc: error: cut.clbin: prefix: total_bytes is 800, but only 500 bytes are present
