#!/usr/bin/env bash
# interface_test.sh BUILD_FOLDER: compiles programs in C99, C++17 and C++20 against an installed
# prefix, without a warning, and runs those of C99 and C++17. A C++14 compiler reports one error that names C++17.
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
say() { printf 'interface_test: %s\n' "$*"; }
bundle=$build/tests/sample.clbin
cmake --install "$build" --prefix "$scratch/prefix" > install.log
PKG_CONFIG_PATH=$scratch/$(dirname "$(find prefix -name clbin.pc)")
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH LD_LIBRARY_PATH
read -ra flags <<< "$(pkg-config --cflags --libs clbin)"
warnings=(-Wall -Wextra -Wpedantic -Werror)

c_compilers=0 cpp_compilers=0
for compiler in gcc clang; do
  command -v "$compiler" > /dev/null || continue
  c_compilers=$((c_compilers + 1))
  "$compiler" -std=c99 "${warnings[@]}" "$here/../c_smoke_test.c" "${flags[@]}" -o c99
  ./c99 "$bundle"
done
for compiler in g++ clang++; do
  command -v "$compiler" > /dev/null || continue
  cpp_compilers=$((cpp_compilers + 1))
  "$compiler" -std=c++20 "${warnings[@]}" -fsyntax-only "$here"/interface/*.cpp "-I$scratch/prefix/include"
  "$compiler" -std=c++17 "${warnings[@]}" "$here"/interface/*.cpp "${flags[@]}" -lOpenCL -o program
  printed=$(./program "$bundle")
  [[ $printed == "2 2"$'\n'"cannot open '/nowhere': No such file or directory 0" ]] ||
    { say "$compiler printed '$printed'"; exit 1; }
  printf '#include <clbin/clbin.h>\nclbin_source source{};\n' > eleven.cpp
  "$compiler" -std=c++11 "${warnings[@]}" -fsyntax-only eleven.cpp "-I$scratch/prefix/include"
  printf '#include <clbin/launch.hpp>\n#include <clbin/opencl.hpp>\n' > old.cpp
  if "$compiler" -std=c++14 -fsyntax-only old.cpp "${flags[@]}" 2> messages; then
    say "$compiler accepts C++14"
    exit 1
  fi
  [[ $(grep 'error:' messages | grep -v 'requires C++17') == "" &&
    $(grep -c 'error:.*requires C++17' messages) == 1 ]] ||
    { say "$compiler reports for C++14:"; cat messages; exit 1; }
done
[[ $c_compilers != 0 && $cpp_compilers != 0 ]] || { say "there is no compiler"; exit 1; }
say "passed with $c_compilers C and $cpp_compilers C++ compilers"
