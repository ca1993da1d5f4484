#!/bin/bash
# Tests of the options that write depfiles.

### beside_output
# -MD and -MMD write the rule beside the output, by rename, and only if the output is written.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
first=$(echo "$devices" | head -1)
run() { oclcc --device "$first" "$@" 2> errors; echo "exit $?"; }
echo '#include "b.h"
kernel void k(global int* a) { *a = B; }' > k.cl
echo '#define B 1' > b.h
mkdir out in
run -MD k.cl
cat k.d
run -MMD k.cl -o out/name.one.clbin -MP
cat out/name.one.d
run -MD k.cl -o out/n -MF rule -MT t
cat rule
oclcc --device "$first" -MD k.cl -o - -MF stdout_rule > in/stdout.clbin
cat stdout_rule
oclcc --info -v in/stdout.clbin | grep -c '^program'
cp k.cl l.cl
run -MD k.cl l.cl -o both.clbin
cat both.d
run -MD k.cl -o k.clbin -MF -
ln -s ../rule out/link.d
echo old > rule
run -MD k.cl -o out/link.clbin
[ -L out/link.d ] && cat rule

# A build that fails writes no rule, and does not change an older one.
echo '#error no' > b.h
rm -f out/* k.d
run -MD k.cl -o out/bad.clbin
echo older > k.d
run -MD k.cl
cat k.d
# The same if the output cannot be written, or only in part.
echo '#define B 1' > b.h
run -MD k.cl -o /dev/full -MF out/full.d
cat errors
run -MD k.cl -o no/k.clbin -MF out/no.d
cat errors
run -MD k.cl -MF no/k.d -o out/k.clbin
cat errors
ls -A out
# expected output:
#| exit 0
#| k.clbin: k.cl b.h
#| exit 0
#| out/name.one.clbin: k.cl b.h
#| b.h:
#| exit 0
#| t: k.cl b.h
#| k.clbin: k.cl b.h
#| 1
#| exit 0
#| both.clbin: k.cl b.h l.cl
#| k.clbin: k.cl b.h
#| exit 0
#| exit 0
#| out/link.clbin: k.cl b.h
#| exit 1
#| exit 1
#| older
#| exit 3
#| oclcc: error: cannot write '/dev/full': No space left on device
#| exit 3
#| oclcc: error: cannot write 'no/k.clbin': No such file or directory
#| exit 3
#| oclcc: error: cannot write 'no/k.d': No such file or directory

### names
# Headers whose names contain make's and ninja's syntax: a change of each causes exactly one rebuild
# in both.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
for tool in make ninja; do
  command -v $tool > /dev/null || { echo "there is no $tool"; exit 77; }
done
first=$(echo "$devices" | head -1)
# "'" and "&" are missing because ninja 1.11 splits names at them, whatever the spelling. ";" is
# missing because make begins a recipe there.
headers=('a b.h' 'c$d.h' 'e#f.h' 'g:h.h' 'i\j.h' 'm%n.h' 'in ner/r s.h' 'ü.h' 'plain.h')
mkdir 'in ner'
for header in "${headers[@]}"; do
  echo "#include \"$header\""
  echo '#define SOME 1' > "$header"
done > k.cl
echo 'kernel void k(global int* a) { *a = SOME; }' >> k.cl
cat > Makefile << END
k.clbin: k.cl
	@echo made >> log
	@oclcc --device $first -MD -MP k.cl -o \$@
-include k.d
END
cat > build.ninja << END
rule oclcc
  command = echo made >> log; oclcc --device $first -MD \$in -o \$out -MF \$out.d
  depfile = \$out.d
build by_ninja.clbin: oclcc k.cl
END
check() { # check OUTPUT TOOL: expects exactly one rebuild for each header, and none afterwards
  local output=$1
  shift
  "$@" > out 2>&1 || cat out
  "$@" > out 2>&1 || cat out
  rm -f log
  for header in "${headers[@]}"; do
    newer "$header" "$output"
    "$@" > out 2>&1 || cat out
    [ "$(cat log 2>&1)" = made ] || echo "$1: touched $header: $(cat log 2>&1)"
    rm -f log
    "$@" > out 2>&1 || cat out
    [ -e log ] && echo "$1: made again after $header"
  done
}
check k.clbin make
check by_ninja.clbin ninja
true

### removed_header
# A header is removed together with its #include. make succeeds because of -MP. ninja does not need
# -MP, but accepts it.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
for tool in make ninja; do
  command -v $tool > /dev/null || { echo "there is no $tool"; exit 77; }
done
first=$(echo "$devices" | head -1)
cat > Makefile << END
all: with.clbin without.clbin
with.clbin: with.cl
	@echo \$@ >> log
	@oclcc --device $first -MD -MP \$< -o \$@
without.clbin: without.cl
	@echo \$@ >> log
	@oclcc --device $first -MD \$< -o \$@
-include with.d without.d
END
cat > build.ninja << END
rule oclcc
  command = echo \$out >> log; oclcc --device $first -MD -MP \$in -o \$out -MF \$out.d
  depfile = \$out.d
build by_ninja.clbin: oclcc with.cl
END
include() {
  echo '#include "gone.h"
kernel void k(global int* a) { *a = 1; }' | tee with.cl > without.cl
  touch gone.h
}
include
make
ninja > /dev/null
sort log
rm log gone.h
echo 'kernel void k(global int* a) { *a = 2; }' | tee with.cl > without.cl
make with.clbin; echo "make: exit $?"
make without.clbin > out 2>&1; echo "make: exit $?"
grep -o "No rule to make target 'gone.h', needed by 'without.clbin'" out
ninja > out || cat out
cat log
rm log
make with.clbin
ninja
[ -e log ] && cat log
true
# expected output:
#| by_ninja.clbin
#| with.clbin
#| without.clbin
#| make: exit 0
#| make: exit 2
#| No rule to make target 'gone.h', needed by 'without.clbin'
#| with.clbin
#| by_ninja.clbin
#| make: 'with.clbin' is up to date.
#| ninja: no work to do.

### rule_is_broken_at_76_columns
for i in $(seq 1 30); do touch "header$i.h"; echo "#include \"header$i.h\""; done > k.cl
echo 'kernel void k(global int* a) { *a = 1; }' >> k.cl
oclcc -M k.cl
# expected output:
#| k.clbin: k.cl header1.h header2.h header3.h header4.h header5.h header6.h \
#|  header7.h header8.h header9.h header10.h header11.h header12.h header13.h \
#|  header14.h header15.h header16.h header17.h header18.h header19.h \
#|  header20.h header21.h header22.h header23.h header24.h header25.h \
#|  header26.h header27.h header28.h header29.h header30.h

### rule_only
# -M and -MM print the rule and start no driver; -MF, -MT, -MQ, -MP and -o as in gcc.
export OCL_ICD_VENDORS=/no/such/folder
mkdir inc
echo '#include "b.h"
#include <c.h>
kernel void k(global int* a) { *a = 1; }' > k.cl
echo '#include "d.h"' > b.h
touch d.h inc/c.h f.h
echo 'kernel void l(global int* a) { *a = 1; }' > l.cl
oclcc -M -Iinc k.cl
oclcc -MM -I inc -include f.h ./k.cl
oclcc -M -Iinc k.cl -MT all -MT '$(OUT)/k' -MQ '$x y#z' -MP
oclcc -M -Iinc k.cl l.cl -MQ both -MP
oclcc -M -Iinc k.cl -MFrule; echo "exit $?"
cat rule
oclcc -M -Iinc k.cl -MF a.d -MF - -o out/k.clbin
oclcc -M -Iinc k.cl -o rule_o
cat rule_o
oclcc -M - < l.cl
oclcc -M k.cl -MD | head -1
ls
# expected output:
#| k.clbin: k.cl b.h inc/c.h d.h
#| k.clbin: k.cl f.h b.h inc/c.h d.h
#| all $(OUT)/k $$x\ y\#z: k.cl b.h inc/c.h d.h
#| b.h:
#| inc/c.h:
#| d.h:
#| both: k.cl b.h inc/c.h d.h l.cl
#| b.h:
#| inc/c.h:
#| d.h:
#| exit 0
#| k.clbin: k.cl b.h inc/c.h d.h
#| out/k.clbin: k.cl b.h inc/c.h d.h
#| k.clbin: k.cl b.h inc/c.h d.h
#| stdin.clbin:
#| k.clbin: k.cl b.h d.h
#| b.h
#| d.h
#| f.h
#| inc
#| k.cl
#| l.cl
#| rule
#| rule_o

### shared_headers
# Two programs of one bundle share a header. A change of an indirectly included header causes a
# rebuild. A change of a file that is not included does not.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
command -v ninja > /dev/null || { echo "there is no ninja"; exit 77; }
first=$(echo "$devices" | head -1)
mkdir inc
echo '#include <shared.h>
kernel void a(global int* p) { *p = DEEP; }' > a.cl
echo '#include <shared.h>
kernel void b(global int* p) { *p = DEEP; }' > b.cl
echo '#include "deep.h"' > inc/shared.h
echo '#define DEEP 1' | tee inc/deep.h > inc/other.h
cat > build.ninja << END
rule oclcc
  command = echo made >> log; oclcc --device $first -Iinc -MD \$in -o \$out -MF \$out.d
  depfile = \$out.d
  deps = gcc
build both.clbin: oclcc a.cl b.cl
END
mv build.ninja build.tmp
sed '/deps = gcc/d' build.tmp > build.ninja
ninja > /dev/null
cat both.clbin.d
for file in inc/other.h inc/deep.h inc/shared.h b.cl; do
  rm -f log
  newer $file both.clbin
  ninja > /dev/null
  echo "$file: $(cat log 2> /dev/null)"
done
# With "deps = gcc" ninja reads the rule once, into its log, and removes it.
cp build.tmp build.ninja
ninja > /dev/null
[ -e both.clbin.d ] && echo 'the rule is still there'
rm -f log
newer inc/deep.h both.clbin
ninja > /dev/null
cat log
ninja
# expected output:
#| both.clbin: a.cl inc/shared.h inc/deep.h b.cl
#| inc/other.h: 
#| inc/deep.h: made
#| inc/shared.h: made
#| b.cl: made
#| made
#| ninja: no work to do.

### wrong_use
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
cp k.cl l.cl
for option in -MF=x -MTx -MQx -MP; do
  oclcc "$option" k.cl; echo "exit $?"
done
oclcc -MD k.cl -o -; echo "exit $?"
oclcc -MD k.cl -o /dev/null; echo "exit $?"
oclcc -MD k.cl -o k.d; echo "exit $?"
oclcc -MD k.cl -MF k.cl; echo "exit $?"
oclcc -M k.cl -MF k.cl; echo "exit $?"
oclcc -MD k.cl -MF no/such/folder/k.d; echo "exit $?"
oclcc -M k.cl l.cl; echo "exit $?"
oclcc -M no.cl; echo "exit $?"
oclcc -M k.cl -MF; echo "exit $?"
cp k.cl $'line\nbreak.cl'
oclcc -M $'line\nbreak.cl' -MT x; echo "exit $?"
ls k.*
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
#| exit 3
#| exit 2
#| exit 3
#| exit 2
#| exit 2
#| k.cl
# expected errors:
#| oclcc: error: '-MF', '-MT', '-MQ' and '-MP' need '-M' or '-MD'
#| oclcc: error: '-MF', '-MT', '-MQ' and '-MP' need '-M' or '-MD'
#| oclcc: error: '-MF', '-MT', '-MQ' and '-MP' need '-M' or '-MD'
#| oclcc: error: '-MF', '-MT', '-MQ' and '-MP' need '-M' or '-MD'
#| oclcc: error: '-MD' has no file to write when the output is '-': give one with -MF
#| oclcc: error: '-MD' has no file to write when the output is '/dev/null': give one with -MF
#| oclcc: error: 'k.d' would be both the output and its rule
#| oclcc: error: 'k.cl' is both an input and the output
#| oclcc: error: 'k.cl' is both an input and the output
#| oclcc: error: cannot write 'no/such/folder/k.d': No such file or directory
#| oclcc: error: the rule for several inputs has no target: give one with -MT
#| oclcc: error: cannot open 'no.cl': No such file or directory
#| oclcc: error: option '-MF' needs a value: -MF FILE
#| oclcc: error: a rule cannot contain a name with a line break: 'line?break.cl'
