#!/bin/bash
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
