#!/bin/bash
# What -### and notes print can be given to a POSIX shell: a name runs nothing, and no word is taken
# for an option or a response file.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
device=${devices%%$'\n'*}
names=($'e\033\';touch owned;\'.cl' $'\033"$(touch owned)"`touch owned`\u2028.cl' $'a\n\033\n.cl' "it's \$HOME.cl" @r.cl -o.cl)
echo '-o owned --info' > @r.clbin
cp @r.clbin @r=@r.cl
for name in "${names[@]}"; do
  echo 'kernel void k(global int* a) { *a = 1; }' > "./$name"
  output=./${name%.cl}.clbin
  for variants in '' '--variant one= --variant two=-DX'; do
    # shellcheck disable=SC2086 # words
    oclcc '-###' --device "$device" $variants -- "$name" 2> commands || echo "exit $?"
    grep -c $'\033' commands
    tail -n +2 commands > run.sh
    dash -e run.sh 2>&1 || echo "dash: exit $?"
    mv -- "$output" by_commands
    # shellcheck disable=SC2086 # words
    oclcc --device "$device" $variants -- "$name"
    cmp by_commands "$output"
    rm -- "$output"
  done
  oclcc --info -v -- "$name" 2> log && echo "no error"
  sed -n 's/^oclcc: note: .*compile it first: //p' log > run.sh
  case $name in
  *$'\n'*) cat run.sh ;; # one line cannot show it
  *)
    dash -e run.sh 2>&1 || echo "note: exit $?"
    rm -- "$output"
    ;;
  esac
done
# The values of options, too.
echo 'kernel void k(global int* a) { *a = H; }' > h.cl
echo '#define H 1' > @i.h
echo '-o owned --info' > i.h # which "-include @i.h" would take for options
oclcc --keygen ./@c --key-type content
oclcc '-###' --device "$device" -include@i.h --encrypt-key=@c.key --variant one= --variant two= h.cl 2> commands
tail -n +2 commands > run.sh
dash -e run.sh 2>&1 || echo "dash: exit $?"
oclcc --verify --decrypt-key=@c.key h.clbin; echo "exit $?"
# Names that contain what separates names in the files of units.
cp h.cl a=b.cl
oclcc '-###' --device "$device" -DH=1 --program a=h.cl --program a.b=h.cl --program c/d=h.cl --variant b.c= --variant c= a=b.cl -o names.clbin 2> commands
tail -n +2 commands > run.sh
dash -e run.sh 2>&1 || echo "dash: exit $?"
mv names.clbin by_commands
oclcc --device "$device" -DH=1 --program a=h.cl --program a.b=h.cl --program c/d=h.cl --variant b.c= --variant c= a=b.cl -o names.clbin
cmp by_commands names.clbin && echo 'the same bundle'
[ ! -e owned ] || echo "a name ran a command"
# expected output:
#| 0
#| 0
#| 0
#| 0
#| 0
#| 0
#| oclcc FILE
#| 0
#| 0
#| 0
#| 0
#| 0
#| 0
#| exit 0
#| the same bundle
