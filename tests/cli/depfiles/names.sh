#!/bin/bash
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
