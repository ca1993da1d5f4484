#!/bin/bash
# wrong_arguments.sh COMPILER FOLDER CLBIN_INCLUDE OPENCL_INCLUDE: checks that launchers with a
# wrong argument do not compile, and that the error of each call names the reason.
export LC_ALL=C # the messages of the compiler are compared
compiler=$1
source=$2/wrong_arguments.cpp
shift 2
# -isystem /usr/include would hide the C library's headers from the C++ library.
includes=(-I "$1" -idirafter "$2")
compile() { # compile [OPTION]
  "$compiler" -std=c++17 -fsyntax-only -DCL_TARGET_OPENCL_VERSION=300 \
    -DCL_HPP_TARGET_OPENCL_VERSION=300 "${includes[@]}" "$@" "$source" 2>&1
}
messages=$(mktemp)
trap 'rm -f "$messages"' EXIT
status=0
if ! compile > "$messages"; then
  echo "the right arguments do not compile:"
  cat "$messages"
  exit 1
fi
if compile -DWRONG > "$messages"; then
  echo "the wrong arguments compile"
  exit 1
fi
# The lines on which calls begin.
mapfile -t calls < <(awk '/^#else/ { wrong = 1 } wrong && /^  [a-z]+\(queue/ { print NR }' "$source")
[[ ${#calls[@]} == 17 ]] || { echo "there are ${#calls[@]} wrong calls, not 17"; exit 1; }
for line in "${calls[@]}"; do
  mapfile -t errors < <(grep -E "^[^ ]*wrong_arguments\.cpp:$line:[0-9]+: error: " "$messages")
  if [[ ${#errors[@]} == 0 ]]; then
    echo "line $line compiles: $(sed -n "${line}p" "$source")"
    status=1
  elif [[ ! ${errors[*]} =~ 'no match for call to'|'no matching function for call to' ]]; then
    echo "line $line fails for another reason: ${errors[*]}"
    status=1
  fi
done
[[ $status == 0 ]] || cat "$messages"
exit $status
