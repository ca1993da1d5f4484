#!/bin/bash
# A bundle as the input of a compile: programs that do not compile, and options that have no effect.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
see_only Oclgrind
try() {
  oclcc "$@"
  echo "exit $?"
}
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
