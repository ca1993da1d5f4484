#!/bin/bash
# Tests of where outputs can be written.

### closed_standard_files
# If standard files are closed, no output gets their numbers, and no messages are written into it.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
printf 'kernel void k(global int* a) {\n#warning hello\n  a[0] = 1;\n}\n' > warn.cl
oclcc warn.cl --no-cache -v -o kept.clbin 2> /dev/null
oclcc warn.cl --no-cache -v -o closed.clbin <&- >&- 2>&-
echo "exit $?"
cmp kept.clbin closed.clbin && echo "the same bundle"
oclcc - -fsyntax-only <&-
echo "exit $?"
oclcc warn.cl -w --no-cache -o - >&-
echo "exit $?"
# expected output:
#| exit 0
#| the same bundle
#| exit 3
#| exit 3
# expected errors:
#| oclcc: error: cannot read standard input: Bad file descriptor
#| oclcc: error: cannot write standard output: Bad file descriptor

### emit
# --emit sets the kind of the output, whatever its name. If the device does not make this kind, the
# error names the kind that it makes.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
first=$(echo "$devices" | head -1)
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc --emit=clbin k.cl -o k.ptx; echo "exit $?"
oclcc --info -v k.ptx | grep -c '^program' > /dev/null || echo 'no bundle'
oclcc --emit bin --device "$first" k.cl; echo "exit $?"
oclcc k.cl --device "$first" -o other.bin; echo "exit $?"
cmp k.bin other.bin
oclcc --emit=bin --device "$first" k.cl -o - | cmp - k.bin
oclcc --device "$first" k.cl -o - | oclcc --info -v /dev/stdin 2> /dev/null | grep -c '^program'
other_kinds='spv cubin'
case $(oclcc --list-devices --device "$first") in
*NVIDIA*) other_kinds='spv spv' ;; # ptxas makes a cubin of its PTX; twice, to print as many lines
esac
for kind in $other_kinds; do
  oclcc --emit=$kind --device "$first" k.cl 2> errors; echo "exit $?"
  grep -o "^oclcc: error: cannot write 'k.$kind': '.*' produces " errors > /dev/null || cat errors
  oclcc --device "$first" k.cl -o x.$kind 2> errors; echo "exit $?"
  grep -o "^oclcc: error: cannot write 'x.$kind': '.*' produces " errors > /dev/null || cat errors
done
oclcc --emit=exe k.cl; echo "exit $?"
oclcc --emit=s k.cl -fsyntax-only; echo "exit $?"
ls
# expected output:
#| exit 0
#| exit 0
#| exit 0
#| 1
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 0
#| errors
#| k.bin
#| k.cl
#| k.ptx
#| other.bin
# expected errors:
#| oclcc: error: '--emit' accepts one of clbin, ptx, cubin, spv, bin, asm, h, c, o, s, hpp, measurements, not 'exe'

### file_size_limit
# A write beyond `ulimit -f` is an error like that of a full disk, and leaves no file behind.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
{ echo '/*'; head -c 300000 /dev/urandom | base64; echo '*/'; } >> k.cl
oclcc k.cl -o k.clbin; echo "exit $?"
cp k.clbin before.clbin
(ulimit -f 200; oclcc k.cl -o k.clbin; echo "exit $?")
cmp k.clbin before.clbin
(ulimit -f 0; oclcc --info -v k.clbin > out; echo "exit $?")
ls -A
# Without cache hits, the files of drivers exceed the limit too.
rm -r "$XDG_CACHE_HOME/clbin"
(ulimit -f 4; oclcc k.cl -o k.clbin > out 2>&1; [ $? -lt 128 ] || echo "ended by a signal")
cmp k.clbin before.clbin
find "$XDG_CACHE_HOME/clbin" "$TMPDIR" -name '*.new' -o -name '*.tmp' -o -name 'oclcc-*'
# expected output:
#| exit 0
#| exit 3
#| exit 3
#| before.clbin
#| k.cl
#| k.clbin
#| out
# expected errors:
#| oclcc: error: cannot write 'k.clbin': File too large
#| oclcc: error: cannot write to standard output: File too large

### full_device
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl -o /dev/full; echo "exit $?"
oclcc k.cl -o - > /dev/full; echo "exit $?"
[ -c /dev/full ] && ls -A
# expected output:
#| exit 3
#| exit 3
#| k.cl
# expected errors:
#| oclcc: error: cannot write '/dev/full': No space left on device
#| oclcc: error: cannot write standard output: No space left on device

### full_disk
# If the disk is full, oclcc prints an error, keeps the old file, and leaves no temporary file.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
mkdir small
unshare -rm true 2> /dev/null || { echo "this machine forbids mount namespaces"; exit 77; }
unshare -rm bash -c '
  mount -t tmpfs -o size=8k none small || { echo "cannot mount a tmpfs"; exit 77; }
  echo old > small/k.clbin
  oclcc k.cl -o small/k.clbin; echo "exit $?"
  cat small/k.clbin
  ls -A small'
# expected output:
#| exit 3
#| old
#| k.clbin
# expected errors:
#| oclcc: error: cannot write 'small/k.clbin': No space left on device

### links_and_devices
# A symbolic link is followed and kept. A pipe and /dev/null are written in place. A replaced file
# keeps its permissions.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
mkdir real
echo old > real/k.clbin
chmod 640 real/k.clbin
ln -s real/k.clbin link.clbin
oclcc k.cl -o link.clbin; echo "exit $?"
[ -L link.clbin ] && stat -c %a real/k.clbin && oclcc --info -v real/k.clbin | grep -c '^program'
mkfifo pipe
cat pipe > copy & oclcc k.cl -o pipe; echo "exit $?"
wait
cmp copy real/k.clbin
[ -p pipe ] && oclcc k.cl -o /dev/null; echo "exit $?"
[ -c /dev/null ] && ls -A real
# expected output:
#| exit 0
#| 640
#| 1
#| exit 0
#| exit 0
#| k.clbin

### over_an_included_file
# Headers and forced includes are inputs too, and are not overwritten.
echo '#include "h.inc"' > k.cl
echo 'kernel void k(global int* a) { *a = 1; }' > h.inc
echo '#define A 1' > f.inc
oclcc k.cl -o h.inc
echo "exit $?"
oclcc k.cl -include f.inc -o f.inc
echo "exit $?"
cat h.inc f.inc
# expected output:
#| exit 2
#| exit 2
#| kernel void k(global int* a) { *a = 1; }
#| #define A 1
# expected errors:
#| oclcc: error: 'h.inc' is both an input and the output
#| oclcc: error: 'f.inc' is both an input and the output

### read_only_folder
# In a folder of a read-only file system, in which not even root can write.
export OCL_ICD_VENDORS=/no/such/folder
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
mkdir small
unshare -rm true 2> /dev/null || { echo "this machine forbids mount namespaces"; exit 77; }
unshare -rm bash -c '
  mount -t tmpfs -o ro none small || { echo "cannot mount a tmpfs"; exit 77; }
  oclcc k.cl -o small/k.clbin; echo "exit $?"'
# expected output:
#| exit 3
# expected errors:
#| oclcc: error: cannot write 'small/k.clbin': Read-only file system

### terminal
# Binaries are not written to a terminal, but text is. The refusal starts no driver.
export OCL_ICD_VENDORS=/no/such/folder NO_COLOR=1
command -v script > /dev/null || { echo "there is no script(1)"; exit 77; }
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
script -qec 'oclcc k.cl -o -' /dev/null | tr -d '\r'; echo "exit ${PIPESTATUS[0]}"
script -qec 'oclcc --emit=bin k.cl -o -' /dev/null | tr -d '\r'; echo "exit ${PIPESTATUS[0]}"
script -qec 'oclcc k.cl -o /dev/null' /dev/null | tr -d '\r' | grep -c terminal
script -qec 'oclcc --emit=ptx k.cl -o -' /dev/null | tr -d '\r' | grep -c terminal
true
# expected output:
#| oclcc: error: cannot write a binary to a terminal: redirect standard output or name a file with -o
#| exit 2
#| oclcc: error: cannot write a binary to a terminal: redirect standard output or name a file with -o
#| exit 2
#| 0
#| 0

### unwritable
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
mkdir folder.clbin
oclcc k.cl -o no/such/folder/k.clbin; echo "exit $?"
oclcc k.cl -o folder.clbin; echo "exit $?"
oclcc k.cl -o k.cl/k.clbin; echo "exit $?"
oclcc k.cl -o k.cl; echo "exit $?"
ls -A
# expected output:
#| exit 3
#| exit 3
#| exit 3
#| exit 2
#| folder.clbin
#| k.cl
# expected errors:
#| oclcc: error: cannot write 'no/such/folder/k.clbin': No such file or directory
#| oclcc: error: cannot write 'folder.clbin': Is a directory
#| oclcc: error: cannot write 'k.cl/k.clbin': Not a directory
#| oclcc: error: 'k.cl' is both an input and the output

### unwritable_before_the_compile
# oclcc finds out that it cannot write the output before it starts a driver. Here there is no
# driver, which would be exit 5.
export OCL_ICD_VENDORS=/no/such/folder
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
mkdir folder.clbin
oclcc k.cl -o no/k.clbin; echo "exit $?"
oclcc k.cl -o folder.clbin; echo "exit $?"
oclcc k.cl -o /proc/k.clbin; echo "exit $?"
oclcc k.cl -MD -MF no/k.d; echo "exit $?"
ls -A
# expected output:
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| folder.clbin
#| k.cl
# expected errors:
#| oclcc: error: cannot write 'no/k.clbin': No such file or directory
#| oclcc: error: cannot write 'folder.clbin': Is a directory
#| oclcc: error: cannot write '/proc/k.clbin': *
#| oclcc: error: cannot write 'no/k.d': No such file or directory
