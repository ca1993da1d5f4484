#!/bin/bash
# Tests of the command line itself.

### conflicts
oclcc --info --list-devices; echo "exit $?"
oclcc --json a.cl; echo "exit $?"
oclcc --info -v a.clbin -o b.clbin; echo "exit $?"
oclcc --list-devices a.cl; echo "exit $?"
oclcc --info; echo "exit $?"
oclcc - -
# expected exit status: 2
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: '--info' and '--list-devices' cannot be used together
#| oclcc: error: '--json' needs '--info', '--list-devices'*
#| oclcc: error: '-o' cannot be used with '--info'
#| oclcc: error: '--list-devices' accepts no input file, but 'a.cl' is given
#| oclcc: error: '--info' needs a bundle
#| oclcc: error: standard input ('-') is given more than once

### gcc_habits
# Spellings that gcc's users expect: joined and separate values, options after inputs, "--", commas.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
first=$(echo "$devices" | head -1)
mkdir a,b dir
echo '#define FROM_AB 1' > a,b/ab.h
echo '#define FROM_DIR 1' > dir/d.h
echo '#include <ab.h>
#include <d.h>
kernel void k(global int* p) { *p = F(X + FROM_AB + FROM_DIR, 0) + Y; }' > ./-k.cl
oclcc --device "$first" -Ia,b -DX -D Y=2 -o-k.out '-DF(a,b)=a' -I dir -- -k.cl; echo "exit $?"
oclcc --info -v -- -k.out | grep '^  options'
cp -- -k.cl k.cl
oclcc k.cl --device "$first" -I a,b -Idir -DX -DY=2 '-DF(a,b)=a' -w -o k.clbin; echo "exit $?"
for option in -Wall -ggdb -Og -std=CL2.0 -ffast-math -c -E --device-options=x -fsyntaxonly -MDD; do
  oclcc k.cl "$option"; echo "exit $?"
done
oclcc --device "$first" -cl-no-such-thing k.cl 2> errors; echo "exit $?"
# Drivers differ in which of these they accept. Accepted options are recorded, and the entry loads.
built=0
for device in $devices; do
  for option in -g -O2; do
    if oclcc --device "$device" "$option" k.cl -Ia,b -Idir -DX -DY=2 '-DF(a,b)=a' -o o.clbin 2> /dev/null; then
      oclcc --info -v o.clbin | grep -q -- "^  options   $option " && oclcc --verify --run o.clbin && built=1
    fi
  done
done
[ $built = 1 ] || echo "no device builds with -g or -O2"
oclcc -M k.cl -Ia,b -Idir -O -O0 -O1 -O3 -Os -Oz -Ofast
# expected output:
#| exit 0
#|   options   -DX -DY=2 -DF(a,b)=a
#| exit 0
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 1
#| k.clbin: k.cl a,b/ab.h dir/d.h
# expected errors:
#| oclcc: error: unrecognized option '-Wall'
#| oclcc: error: unrecognized option '-ggdb'
#| oclcc: error: unrecognized option '-Og'
#| oclcc: error: unrecognized option '-std=CL2.0'; did you mean '-cl-std'?
#| oclcc: error: unrecognized option '-ffast-math'; did you mean '-cl-fast-relaxed-math'?
#| oclcc: error: unrecognized option '-c'
#| oclcc: error: unrecognized option '-E'
#| oclcc: error: unrecognized option '--device-options=x'; did you mean '--device-option'?
#| oclcc: error: unrecognized option '-fsyntaxonly'; did you mean '-fsyntax-only'?
#| oclcc: error: unrecognized option '-MDD'; did you mean '-MD'?

### help_to_a_full_disk
oclcc --help > /dev/full; echo "exit $?"
oclcc --version > /dev/full; echo "exit $?"
make_bundle sample s.clbin
oclcc --info s.clbin > /dev/full; echo "exit $?"
oclcc --info --json s.clbin > /dev/full
# expected exit status: 3
# expected output:
#| exit 3
#| exit 3
#| exit 3
# expected errors:
#| oclcc: error: cannot write to standard output: No space left on device
#| oclcc: error: cannot write to standard output: No space left on device
#| oclcc: error: cannot write to standard output: No space left on device
#| oclcc: error: cannot write to standard output: No space left on device

### many_response_files
# Files that name one another several times are not read billions of times: there are limits on the
# files and the bytes that a command line reads.
for i in $(seq 1 14); do
  next=@f$((i + 1))
  echo "$next $next $next $next" > "f$i"
done
echo > f15
oclcc @f1; echo "exit $?"
# Exactly the limit, and one more.
for i in $(seq 1 999); do echo @empty; done > list
: > empty
oclcc @list; echo "exit $?"
oclcc @list @empty; echo "exit $?"
# 64 MiB, and some bytes.
head -c 16777216 /dev/zero | tr '\0' ' ' > large
oclcc @large @large @large @large; echo "exit $?"
echo > line
oclcc @large @large @large @large @line; echo "exit $?"
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: more than 1000 response files are read: the next one is '@f15'
#| oclcc: error: no input file; 'oclcc --help' lists the common options
#| oclcc: error: more than 1000 response files are read: the next one is '@empty'
#| oclcc: error: no input file; 'oclcc --help' lists the common options
#| oclcc: error: response files have more than 67108864 bytes in all with '@line'

### missing_value
for option in -o --output -D -U -I -include -j --timeout --device --program --variant; do
  oclcc a.cl "$option"
  echo "exit $?"
done
oclcc a.cl --output=
# expected exit status: 2
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: option '-o' needs a value: -o FILE
#| oclcc: error: option '--output' needs a value: --output FILE
#| oclcc: error: option '-D' needs a value: -D NAME[=VALUE]
#| oclcc: error: option '-U' needs a value: -U NAME
#| oclcc: error: option '-I' needs a value: -I DIR
#| oclcc: error: option '-include' needs a value: -include FILE
#| oclcc: error: option '-j' needs a value: -j N
#| oclcc: error: option '--timeout' needs a value: --timeout SECONDS
#| oclcc: error: option '--device' needs a value: --device PATTERN
#| oclcc: error: option '--program' needs a value: --program NAME=FILE
#| oclcc: error: option '--variant' needs a value: --variant NAME='OPTIONS'
#| oclcc: error: option '-o' needs a value: -o FILE

### nested_response_files
# @FILE: nested, quoted, with spaces in its name, relative to the working directory. "@" alone, and
# "@FILE" after "--", are ordinary words.
mkdir d
echo '"@d/inner words" -M' > outer
printf '%s\n' '-D"X=a b" -I '"'in c'" 'k.cl -MT "x\ y"' '-MP' > 'd/inner words'
mkdir 'in c'
echo '#include <h.h>
kernel void k(global int* a) { *a = 1; }' > k.cl
touch 'in c/h.h'
oclcc @outer; echo "exit $?"
oclcc -M @; echo "exit $?"
oclcc -M -- @outer | head -1
printf '"unclosed -M k.cl' > unclosed
oclcc @unclosed; echo "exit $?"
oclcc @d/none; echo "exit $?"
oclcc @d; echo "exit $?"
: > empty
oclcc @empty; echo "exit $?"
# expected output:
#| x\ y: k.cl in\ c/h.h
#| in\ c/h.h:
#| exit 0
#| exit 3
#| exit 2
#| exit 3
#| exit 3
#| exit 2
# expected errors:
#| oclcc: error: cannot open '@': No such file or directory
#| oclcc: error: cannot open '@outer': No such file or directory
#| oclcc: error: 'unclosed' ends within quotes
#| oclcc: error: cannot open 'd/none': No such file or directory
#| oclcc: error: cannot read 'd': Is a directory
#| oclcc: error: no input file; 'oclcc --help' lists the common options

### out_of_memory
# A failed allocation is exit 6 and a message, not an abort.
[ -z "$ASAN_OPTIONS$TSAN_OPTIONS" ] || { echo "sanitizers need all of the memory"; exit 77; }
oclcc --version > /dev/null
head -c 12000000 /dev/zero | tr '\0' 'x' > long
printf '%s' ' @long @long @long @long @long @long @long @long' > words
ulimit -v 100000
oclcc @words; echo "exit $?"
# expected output:
#| exit 6
# expected errors:
#| oclcc: error: out of memory

### response_file
# Words of a file, quoted as in a shell. Files in files, a loop, a missing file, an open quote, and
# a file that is too large.
printf '%s\n' "-DX='a b'" '"no such.cl"' > words
oclcc @words; echo "exit $?"
echo '@words' > outer
oclcc @outer; echo "exit $?"
echo '@loop' > loop
oclcc @loop; echo "exit $?"
oclcc @none; echo "exit $?"
oclcc -- @none; echo "exit $?"
printf 'a.cl -o "unterminated\n' > quotes
oclcc @quotes
echo "exit $?"
head -c 20000000 /dev/zero | tr '\0' ' ' > large
oclcc @large
echo "exit $?"
# expected output:
#| exit 3
#| exit 3
#| exit 2
#| exit 3
#| exit 3
#| exit 2
#| exit 3
# expected errors:
#| oclcc: error: cannot open 'no such.cl': No such file or directory
#| oclcc: error: cannot open 'no such.cl': No such file or directory
#| oclcc: error: response files are nested more than 16 deep at '@loop'
#| oclcc: error: cannot open 'none': No such file or directory
#| oclcc: error: cannot open '@none': No such file or directory
#| oclcc: error: 'quotes' ends within quotes
#| oclcc: error: 'large' is larger than the limit of 16777216 bytes

### two_dashes
# After "--" everything is an input.
oclcc -- --help
# expected exit status: 3
# expected errors:
#| oclcc: error: cannot open '--help': No such file or directory

### unknown_option
# Every unknown option is exit 2, with a suggestion if a similar option exists.
for option in --keep-goin --no-suorce -Werrror -Og -help -qv --inputs=x; do
  oclcc "$option" a.cl
  echo "exit $?"
done
oclcc --varient fast=-w a.cl
# expected exit status: 2
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: unrecognized option '--keep-goin'; did you mean '--keep-going'?
#| oclcc: error: unrecognized option '--no-suorce'; did you mean '--no-source'?
#| oclcc: error: unrecognized option '-Werrror'; did you mean '-Werror'?
#| oclcc: error: unrecognized option '-Og'
#| oclcc: error: unrecognized option '-help'; did you mean '--help'?
#| oclcc: error: unrecognized option '-qv'
#| oclcc: error: unrecognized option '--inputs=x'
#| oclcc: error: unrecognized option '--varient'; did you mean '--variant'?

### version
# The revision is that of a checkout: a release has none.
oclcc --version | grep -v '^sanitizers \|^revision '
revisions=$(oclcc --version | grep -c '^revision [0-9a-f]\{12\}$')
[ -e "$ROOT/.git" ] && git -C "$ROOT" rev-parse > /dev/null 2>&1 && checkouts=1
[ "$revisions" = "${checkouts:-0}" ] || echo "$revisions revisions"
# expected output:
#| oclcc *.*.*
#| zstd *.*.*
#| libsodium *.*.*
#| lz4 *.*.*
#| zlib *.*.*
#| format 1.3
#| compiler * *.*.*
#| build *

### worker_by_hand
# --worker is for oclcc itself.
oclcc --worker
# expected exit status: 2
# expected errors:
#| oclcc: error: --worker is reserved: oclcc starts its worker processes with it

### wrong_value
oclcc -j0 a.cl; echo "exit $?"
oclcc -j many a.cl; echo "exit $?"
oclcc --timeout=-1 a.cl; echo "exit $?"
oclcc --color=red a.cl; echo "exit $?"
oclcc --program a.cl; echo "exit $?"
oclcc --program a= ; echo "exit $?"
oclcc --variant -DX a.cl; echo "exit $?"
oclcc --specialize k=16x a.cl; echo "exit $?"
oclcc --variant v=-Og a.cl; echo "exit $?"
oclcc --variant v=-w --variant v=-w a.cl; echo "exit $?"
oclcc --help=unknown; echo "exit $?"
oclcc --info=yes a.clbin
# expected exit status: 2
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: '-j' requires a number from 1 to 1024, not '0'
#| oclcc: error: '-j' requires a number from 1 to 1024, not 'many'
#| oclcc: error: '--timeout' requires a number from 1 to 86400, not '-1'
#| oclcc: error: '--color' accepts auto, always or never, not 'red'
#| oclcc: error: '--program' requires NAME=FILE, not 'a.cl'
#| oclcc: error: '--program a=' names no file
#| oclcc: error: '--variant' requires NAME='OPTIONS', not '-DX'
#| oclcc: error: '--specialize' requires KERNEL=SIZE, such as matmul=16x16 or scale=64, with one to three numbers from 1 to 65536; not 'k=16x'
#| oclcc: error: variant 'v': unrecognized option '-Og'
#| oclcc: error: variant 'v' is given twice
#| oclcc: error: '--help' accepts common or all, not 'unknown'
#| oclcc: error: option '--info' accepts no value
