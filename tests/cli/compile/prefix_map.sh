#!/bin/bash
# File names of #line are mapped in the binaries and in the bundle, but not in messages.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
mkdir one two
for folder in one two; do
  echo "#line 1 \"$PWD/$folder/gen/k.y\"
#include \"h.h\"
kernel void k(global char* a) { *a = __FILE__[0]; }" > $folder/k.cl
  echo "#line 7 \"$PWD/$folder/gen/h.y\"
#ifdef BAD
#error bad
#endif" > $folder/h.h
  (cd $folder && oclcc k.cl -ffile-prefix-map="$PWD"=/src -o k.clbin; echo "exit $?")
done
cmp one/k.clbin two/k.clbin
oclcc one/k.cl -o plain.clbin
cmp -s one/k.clbin plain.clbin && echo 'nothing was mapped'
oclcc --extract one/k.clbin -o out > /dev/null 2>&1
cat -- out/*.cl out/*/*.cl 2> /dev/null | grep -h '^#line' | sort -u
grep -rl "$PWD" out one/k.clbin
oclcc one/k.cl -DBAD -ffile-prefix-map="$PWD/one"=/src -o bad.clbin 2> errors; echo "exit $?"
sed "s|$PWD|PWD|" errors | grep -o '^PWD/one/gen/h.y:8:2: error: bad' | sort -u
# The last matching mapping applies. Also the other spellings of the option.
oclcc one/k.cl -fmacro-prefix-map=/=/wrong/ -fdebug-prefix-map="$PWD/one"=/src -o again.clbin
cmp one/k.clbin again.clbin
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
