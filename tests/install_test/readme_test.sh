#!/usr/bin/env bash
# readme_test.sh BUILD_FOLDER: runs the programs, commands and build files in README and
# doc/build_systems.md exactly as printed, each in a folder without other files, against an
# installed prefix.
set -euo pipefail
build=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
pages=("$root/README.md" "$root/doc/build_systems.md")
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

# block LANGUAGE LINE: prints the block in that language that contains the line.
block() {
  awk -v begin="\`\`\`$1" -v wanted="$2" '
    $0 == begin { inside = 1; text = ""; found = 0; next }
    inside && $0 == "```" { if (found) { printf "%s", text; count++ }; inside = 0 }
    inside { text = text $0 "\n"; if (index($0, wanted)) { found = 1 } }
    END { exit count != 1 }' "${pages[@]}" || { say "the pages have not one block '$1' with '$2'" >&2; exit 1; }
}
project() { # project NAME
  mkdir "$scratch/$1"
  cd "$scratch/$1"
  block c 'kernel void scale' > scale.cl
}
embedded_project() { # embedded_project NAME
  project "$1"
  block cpp '#include "scale.hpp"' > embedded.cpp
}
expect() { # expect NAME OUTPUT COMMAND…
  local name=$1 wanted=$2 got
  shift 2
  got=$("$@" 2>&1) || { say "$name: exit $?: $got"; exit 1; }
  [[ $got == "$wanted" ]] || { say "$name: it printed '$got'"; exit 1; }
  say "$name works"
}

project commands
block cpp 'clbin::Report report;' > main.cpp
{
  block console 'oclcc scale.cl -o scale.clbin'
  block console './main'
} | sed 's/^\$ //' > commands
bash -e commands > printed 2>&1 || { say "the commands ended with $?:"; cat printed; exit 1; }
[[ $(tail -1 printed) == "2 4 6" && $(grep -c 'exact identity' printed) -ge 1 ]] ||
  { say "the commands printed:"; cat printed; exit 1; }
say "commands work"

project layer
cat > app.cpp << 'END'
#define CL_HPP_TARGET_OPENCL_VERSION 300
#include <CL/opencl.hpp>
#include <iostream>
int main() {
  cl::Program program("kernel void scale(global float* a) { *a *= 2; }");
  std::cout << (program.build() == CL_SUCCESS ? "built" : "refused") << '\n';
}
END
c++ app.cpp -lOpenCL -o app
block console 'oclcc --record recorded.clbin' | sed 's/^\$ //' > commands
CLBIN_CACHE=0 bash -e commands > printed 2>&1 || { say "the layer:"; cat printed; exit 1; }
[[ $(grep -c '^built$' printed) == 2 && $(grep -c ': served from a bundle: ' printed) == 1 ]] ||
  { say "the layer:"; cat printed; exit 1; }
say "layer works"

embedded_project make
block make 'app: embedded.o' > Makefile
make > make.log 2>&1 || { cat make.log; exit 1; }
expect make "2 4 6" ./app
make --question app || { say "make: app is made again though nothing changed"; exit 1; }
printf '#define UNUSED 1\n' > unused.h
until sed -i '1i #include "unused.h"' scale.cl && [[ scale.cl -nt app ]]; do sleep 0.01; done
make > make.log 2>&1 || { cat make.log; exit 1; }
until touch unused.h && [[ unused.h -nt app ]]; do sleep 0.01; done
# Writes to a file, because grep --quiet ends at its match, and make would then fail on a closed
# pipe.
make --dry-run app > rebuild.log
grep --quiet 'oclcc scale.cl' rebuild.log || { say "make: a header does not rebuild"; exit 1; }

embedded_project cmake
block cmake 'project(app CXX)' > CMakeLists.txt
{ cmake -B out "-DCMAKE_PREFIX_PATH=$scratch/prefix" && cmake --build out; } > cmake.log 2>&1 ||
  { cat cmake.log; exit 1; }
expect cmake "2 4 6" out/app

project cmake_file
block cpp 'clbin::Report report;' > main.cpp
{
  printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(app CXX)' 'find_package(clbin REQUIRED)'
  block cmake 'SOURCES scale.cl)'
} > CMakeLists.txt
{ cmake -B out "-DCMAKE_PREFIX_PATH=$scratch/prefix" && cmake --build out; } > cmake.log 2>&1 ||
  { cat cmake.log; exit 1; }
cd out
[[ $(./app | tail -1) == "2 4 6" ]] || { say "cmake_file: it does not print '2 4 6'"; exit 1; }
say "cmake_file works"

if ! command -v meson > /dev/null; then
  say "meson is not installed: its example is not tried"
  exit 0
fi
embedded_project meson
block meson "project('app'" > meson.build
{ meson setup out && meson compile -C out; } > meson.log 2>&1 || { cat meson.log; exit 1; }
expect meson "2 4 6" out/app
mkdir "$scratch/meson_module"
cp -r "$root"/examples/{meson,saxpy.cl,embedded.cpp} "$scratch/meson_module"
cd "$scratch/meson_module"
{ meson setup out meson && meson compile -C out; } > meson.log 2>&1 || { cat meson.log; exit 1; }
expect meson_module "12 24 36 48" out/embedded
