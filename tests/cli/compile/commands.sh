#!/bin/bash
# Other commands, and other orders of units, make the same bytes.

### preview
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

### quoted_for_shells
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

### units
# One run for all units makes the same bytes as merging and repacking one run for each unit.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" two_platforms
echo "#define ONE 1" > h.h
printf "#include \"h.h\"\nkernel void k(global int* a) { *a = ONE + N; }\n" > k.cl
echo "kernel void other(global int* a) { *a = 2; }" > l.cl
variants=(--variant one=-DN=1 --variant two=-DN=2)
oclcc k.cl l.cl "${variants[@]}" -o whole.clbin
units=()
for device in $devices; do
  for program in k l; do
    for n in 1 3; do
      unit=$device.$program.$n.clbin
      oclcc "$program.cl" --device "$device" "${variants[@]:n-1:2}" -o "$unit"
      units+=("$unit")
    done
  done
done
oclcc --merge "${units[@]}" -o merged.clbin
oclcc --repack merged.clbin
cmp whole.clbin merged.clbin && [ "$(entries merged.clbin)" = $((4 * device_count)) ] && echo same
mapfile -t reversed < <(printf "%s\n" "${units[@]}" | tac)
oclcc --merge "${reversed[@]}" -o reversed.clbin
oclcc --repack reversed.clbin
cmp whole.clbin reversed.clbin
# expected output:
#| same

### order_of_units
# The bytes do not depend on what was built before: in another order, with another number of
# compilers on all platforms together, and alone. The programs define different structs of the same name. One has a required
# work-group size, and one has images, whose types drivers' built-in libraries have too.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
export CLBIN_CACHE=0
for number in 1 2 3; do
  cat > k$number.cl << END
typedef struct { float weight; int rest[$number]; } part;
struct whole { part first; int$((1 << number)) last; };
kernel void change(global part* a, global struct whole* b) {
  size_t i = get_global_id(0);
  struct whole copy = b[i];
  copy.first = a[i];
  b[i] = copy;
}
END
done
cat >> k3.cl << 'END'
#ifdef __IMAGE_SUPPORT__
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_FILTER_NEAREST;
kernel void copy_image(read_only image2d_t from, write_only image2d_t to) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(to, at, sqrt(read_imagef(from, nearest, at)));
}
#endif
END
sed -i '1i #define REQUIRED __attribute__((reqd_work_group_size(8, 1, 1)))' k2.cl
sed -i 's/^kernel void/kernel REQUIRED void/' k2.cl

# compile NAME OPTION...: compiles to NAME.clbin, and extracts it to the folder NAME.
compile() {
  oclcc "${@:2}" -o "$1.clbin"
  oclcc -q --extract "$1.clbin" -o "$1" > /dev/null
}
compile forward -j1 k1.cl k2.cl k3.cl
compile backward -j1 k3.cl k2.cl k1.cl
diff -r forward backward
compile together -j2 k1.cl k2.cl k3.cl
diff -r forward together
compile alone -j1 k3.cl
for file in alone/*.*; do
  [ -d "$file" ] || cmp "$file" "forward/${file#alone/}"
done
# The worker itself builds the only unit of a run. For several units, it forks copies of itself.
mapfile -t devices < <(oclcc --list-devices --json |
  python3 -c 'import json, sys; [print(d["id"]) for d in json.load(sys.stdin)["devices"]]')
for device in "${devices[@]}"; do
  compile "only-$device" -j1 --device "$device" k3.cl
  for file in "only-$device"/*.*; do
    [ -d "$file" ] || [ "${file##*.}" = json ] || cmp "$file" "forward/${file#only*/}"
  done
done
# Entries for one device that differ are a conflict.
oclcc --merge alone.clbin forward.clbin -o merged.clbin
oclcc --diff merged.clbin forward.clbin
