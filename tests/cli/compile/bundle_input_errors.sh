#!/bin/bash
# A bundle as the input of a compile: programs that do not compile, and options that have no effect.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
pocl=$(device_of 'Portable Computing Language') || exit 77
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
try app.clbin --device "$pocl" -o new.clbin
echo "== --keep-going and --optional"
try app.clbin --device "$pocl" --keep-going -o new.clbin
entries new.clbin
oclcc --info new.clbin | grep '^program'
try app.clbin --device "$pocl" --optional bad -o new.clbin
entries new.clbin
try app.clbin --device "$pocl" --optional other -o new.clbin
echo "== no file of this machine is read"
cat > reads.cl << 'END'
#ifdef READ
#include "secret.h"
#endif
kernel void reads(global int* a) { *a = 1; }
END
oclcc reads.cl --source-only -DREAD -o reads.clbin 2>/dev/null
echo 'int secret;' > secret.h
try reads.clbin --device "$pocl" -o new.clbin
echo "== options that no compiler may be given"
oclcc good.cl --source-only --variant safe=-DX --variant unsafe=-cl-x=/etc/passwd -o unsafe.clbin
try unsafe.clbin --device "$pocl" -o new.clbin
entries new.clbin
oclcc good.cl --source-only -cl-x=/etc/passwd -o unsafe.clbin
try unsafe.clbin --device "$pocl" -o new.clbin
echo "== without any source"
make_bundle sample sample.clbin
oclcc --strip --strip-source sample.clbin
try sample.clbin --device "$pocl" -o new.clbin
echo "== sizes"
oclcc good.cl --source-only
try good.clbin --device "$pocl" --specialize none=4 -o new.clbin
try good.clbin --device "$pocl" --specialize good=4 -o new.clbin
oclcc --info new.clbin | grep -o 'specialized for.*'
echo "== no name, no bundle"
try good.clbin --device "$pocl"
try good.clbin good.cl --device "$pocl" -o new.clbin
try good.clbin good.clbin --device "$pocl" -o new.clbin
try good.clbin --device none -o new.clbin
try good.clbin --device "$pocl" -DX -o new.clbin
try good.clbin --device "$pocl" -o new.h
try good.clbin --device "$pocl" --emit bin -o good.clbin
head -c 500 good.clbin > cut.clbin
try cut.clbin --device "$pocl" -o new.clbin
ls
