#!/usr/bin/env bash
# readme_test.sh BUILD_FOLDER: README's examples of a build, word for word, against an installed
# prefix: CMake, make and Meson.
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch/home XDG_CACHE_HOME=$scratch/cache POCL_CACHE_DIR=$scratch/pocl
mkdir -p "$HOME" "$XDG_CACHE_HOME" "$POCL_CACHE_DIR"
say() { printf 'readme_test: %s\n' "$*"; }

cmake --install "$build" --prefix "$scratch/prefix" > "$scratch/install.log"
if ! "$scratch/prefix/bin/oclcc" --list-devices > "$scratch/devices"; then
  say "there is no OpenCL device"
  exit 77
fi
pc=$(find "$scratch/prefix" -name clbin.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH LD_LIBRARY_PATH PATH=$scratch/prefix/bin:$PATH

# block LANGUAGE: the example in that language.
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$here/../../README.md" | sed '1d;$d'; }
# The program around the examples.
program() { # program HEADER SYMBOL
  cat << END
#include "run_scale.hpp"
#include "$1"
int main() {
  return run_scale(clbin::Bundle::from_memory(std::as_bytes(std::span($2, $2_size))));
}
END
}
project() { # project NAME
  mkdir "$scratch/$1"
  cd "$scratch/$1"
  cp "$here/consumer/run_scale.hpp" .
  mkdir include
  printf '#define FACTOR 5\n' > include/factor.h
  printf '#define FACTOR 5\n' > factor.h
  sed 's/ \* TIMES//' "$here/consumer/kernels/scale.cl" > scale.cl
}
check() { # check NAME PROGRAM
  local got
  got=$("$2")
  [[ $got == "5 50 from an entry" ]] || { say "$1: it printed '$got'"; exit 1; }
  say "$1 works"
}

project make
program scale.h scale_clbin > main.cpp
block make | sed 's/matmul/scale/g' > Makefile
make > make.log 2>&1 || { cat make.log; exit 1; }
check make ./app
make --question app || { say "make: app is made again though nothing changed"; exit 1; }
until touch factor.h && [[ factor.h -nt app ]]; do sleep 0.01; done
# Into a file: grep --quiet ends at its match, and make would fail at a pipe that nobody reads.
make --dry-run app > rebuild.log
grep --quiet 'oclcc scale.cl' rebuild.log || { say "make: a header does not rebuild"; exit 1; }

project cmake
program app_kernels.h app_kernels_clbin > main.cpp
{
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(app LANGUAGES C CXX)\n'
  printf 'set(CMAKE_CXX_STANDARD 20)\nfind_package(OpenCL REQUIRED)\nadd_executable(app main.cpp)\n'
  printf 'target_link_libraries(app PRIVATE OpenCL::OpenCL)\n'
  block cmake | sed 's/matmul/scale/g'
} > CMakeLists.txt
{ cmake -B out "-DCMAKE_PREFIX_PATH=$scratch/prefix" && cmake --build out; } > cmake.log 2>&1 ||
  { cat cmake.log; exit 1; }
check cmake out/app

if ! command -v meson > /dev/null; then
  say "meson is not installed: its example is not tried"
  exit 0
fi
project meson
program scale.h scale_clbin > main.cpp
{
  printf "project('app', 'cpp')\n"
  block meson | sed 's/matmul/scale/g'
} > meson.build
{ meson setup out && meson compile -C out; } > meson.log 2>&1 || { cat meson.log; exit 1; }
check meson out/app
