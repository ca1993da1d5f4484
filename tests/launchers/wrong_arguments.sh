#!/bin/bash
# wrong_arguments.sh COMPILER FOLDER CLBIN_INCLUDE OPENCL_INCLUDE: checks that launchers with a
# wrong argument do not compile, and that the error names the reason.
export LC_ALL=C # the messages of the compiler are compared
compiler=$1
folder=$2
shift 2
# -isystem /usr/include would hide the C library's headers from the C++ library.
includes=(-I "$1" -idirafter "$2")
compile() {
  "$compiler" -std=c++17 -fsyntax-only -DCL_TARGET_OPENCL_VERSION=300 \
    -DCL_HPP_TARGET_OPENCL_VERSION=300 "${includes[@]}" "-DCASE=$1" "$folder/wrong_arguments.cpp" 2>&1
}
messages=$(mktemp)
trap 'rm -f "$messages"' EXIT
status=0
if ! compile 0 > "$messages"; then
  echo "the right arguments do not compile:"
  cat "$messages"
  exit 1
fi
cases=$(grep -c '^#elif CASE' "$folder/wrong_arguments.cpp")
for ((i = 1; i <= cases; ++i)); do
  if compile "$i" > "$messages"; then
    echo "case $i compiles"
    status=1
  elif ! grep -qE 'no match for call to|no matching function for call to' "$messages"; then
    echo "case $i fails for another reason:"
    cat "$messages"
    status=1
  fi
done
exit $status
