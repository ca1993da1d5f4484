#!/usr/bin/env bash
# check.sh HEADERS LIBRARY BUNDLE: programs that were linked with libclbin.so.1 go on to work.
# `linked` is tests/c_smoke_test.c, compiled on Debian 12 for x86-64 when the interface was frozen.
# interface.abi is what clbin.h declared then: abidiff compares functions, parameters, enumerators
# and the layout of structs. New functions are no change.
# check.sh --write HEADERS FILE writes such a file.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
say() { printf 'interface_v1: %s\n' "$*"; }
for program in abidw abidiff gcc; do
  command -v "$program" >/dev/null || { say "skipped: there is no $program"; exit 77; }
done

# Compiles a library with the functions of a header, which do nothing: its types do not depend on
# the compiler of the real library, nor on its internals.
declared_by() { # HEADERS LIBRARY
  {
    echo '#include <clbin/clbin.h>'
    grep -Pzo '(?m)^CLBIN_API[^;]*;' "$1/clbin/clbin.h" | tr '\0' '\n' | sed 's/;$/ { __builtin_trap(); }/'
  } >"$scratch/declared.c"
  gcc -g -shared -fPIC -Wno-unused-parameter "-I$1" "$scratch/declared.c" -o "$2"
}

if [[ $1 == --write ]]; then
  declared_by "$2" "$scratch/declared.so"
  exec abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed "$scratch/declared.so" >"$3"
fi

headers=$1 library=$2 bundle=$3
if [[ $(uname -m) == x86_64 ]]; then
  LD_LIBRARY_PATH=$(dirname "$library") "$here/linked" "$bundle" || { say "the program fails"; exit 1; }
fi

compare() { # HEADERS
  declared_by "$1" "$scratch/now.so" || { say "cannot compile the header"; exit 1; }
  abidiff --no-architecture --no-added-syms "$here/interface.abi" "$scratch/now.so"
}
compare "$headers" || {
  say "clbin.h has changed what programs were compiled with. If a struct has only got new members at its end:"
  say "$0 --write $headers $here/interface.abi"
  exit 1
}

# The comparison finds changes, and permits new functions.
changed() { # EDIT, of sed
  rm -rf "$scratch/include"
  cp -r "$headers" "$scratch/include"
  sed -i "$1" "$scratch/include/clbin/clbin.h"
  ! cmp -s "$scratch/include/clbin/clbin.h" "$headers/clbin/clbin.h" || { say "'$1' changes nothing"; exit 1; }
  compare "$scratch/include" >"$scratch/changes"
}
for edit in 's/^CLBIN_API int clbin_is_current(/CLBIN_API long clbin_is_current(/' \
  's/^CLBIN_API void clbin_listing_free(/CLBIN_API void clbin_listing_end(/' \
  's/^  uint64_t max_raw_bytes;/  uint32_t max_raw_bytes;/' 's/^  const char\* variant; /  size_t added; const char* variant; /' \
  's/CLBIN_ERROR_DAMAGED = [0-9]*/CLBIN_ERROR_DAMAGED = 250/'; do
  ! changed "$edit" || { say "abidiff does not see '$edit'"; exit 1; }
done
changed 's/^CLBIN_API int clbin_is_current(/CLBIN_API int clbin_added(void);\n&/' || { say "no function can be added"; exit 1; }
