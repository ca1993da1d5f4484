#!/bin/bash
# -### writes and compiles nothing. Its lines are shell commands that make the same bundle as one
# run.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" two_platforms
mkdir "in c"
echo '#include <h.h>
kernel void a(global float* p) { *p = X; }' > "a b.cl"
echo 'kernel void b(global float* p) { *p = Y; }' > b.cl
echo '#define Y 2' > 'in c/h.h'
words=("a b.cl" b.cl "-I" "in c" -include h.h '-DX="it'"'"'s $HOME"[0]' --variant one= --variant 'two=-w -DZ=1'
       --device-option "${devices%%$'\n'*}=-DW=1" -o both.clbin)
oclcc '-###' "${words[@]}" 2> commands; echo "exit $?"
ls
head -1 commands
[ "$(grep -c -- --variant commands)" = $((device_count * 4)) ] || cat commands
tail -n +2 commands > run.sh
sh -e run.sh; echo "exit $?"
mv both.clbin by_commands.clbin
oclcc "${words[@]}"
cmp both.clbin by_commands.clbin
# The same for launchers and embedded bundles.
for output in l.hpp e.h; do
  oclcc '-###' b.cl -DY=1 --variant one= --variant two=-DZ -o $output 2>&1 | tail -n +2 > run.sh
  sh -e run.sh
  mv $output by_commands
  oclcc b.cl -DY=1 --variant one= --variant two=-DZ -o $output
  cmp by_commands $output
done
# The source can depend on the macros of all variants. Each command has only its own.
for options in '-DZ="a  b"' -UZ; do
  oclcc '-###' b.cl -DY=1 --device "${devices%%$'\n'*}" --variant one= --variant "two=$options" -o q.clbin 2>&1 |
    tail -n +2 > run.sh
  sh -e run.sh 2>&1 | grep -o "program 'b' has different source"
done
# If there is only one unit, its command writes the output.
oclcc '-###' b.cl -DY=1 --device "${devices%%$'\n'*}" -o one.clbin 2>&1 | tail -n +2
oclcc '-###' b.cl -fsyntax-only --device none 2> /dev/null; echo "exit $?"
# expected output:
#| exit 0
#| a b.cl
#| b.cl
#| commands
#| in c
#| oclcc *
#| exit 0
#| program 'b' has different source
#| program 'b' has different source
#|  oclcc --device 0:0 -DY=1 --program b=b.cl -o one.clbin
#| exit 5
