#!/usr/bin/env bash
# install_test.sh BUILD_FOLDER GENERATOR shared|static: builds consumer/ against the result of
# `cmake --install`, and runs it, also with no other files left.
set -euo pipefail
build=$1 generator=$2 linkage=$3
here=$(cd "$(dirname "$0")" && pwd)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch/home XDG_CACHE_HOME=$scratch/cache POCL_CACHE_DIR=$scratch/pocl
mkdir -p "$HOME" "$XDG_CACHE_HOME" "$POCL_CACHE_DIR"
cd "$scratch"

say() { printf 'install_test: %s\n' "$*"; }
expect() { # expect TEXT COMMAND…
  local wanted=$1 got
  shift
  got=$("$@" 2>&1) || { say "'$*' failed: $got"; exit 1; }
  if [[ $got != "$wanted" ]]; then
    say "'$*' printed '$got', not '$wanted'"
    exit 1
  fi
}

cmake --install "$build" --prefix "$scratch/prefix" > install.log

# A project that asks for one version takes each later one with the same first number.
takes() { # takes REQUESTED INSTALLED
  local file
  file=$(find prefix -name clbinConfigVersion.cmake)
  sed -E "s/\"[0-9]+[.][0-9]+[.][0-9]+\"/\"$2\"/g" "$file" > version.cmake
  printf 'set(PACKAGE_FIND_VERSION %s)\nset(PACKAGE_FIND_VERSION_MAJOR %s)\nset(CMAKE_SIZEOF_VOID_P 8)
include(version.cmake)\nmessage("${PACKAGE_VERSION_COMPATIBLE}")' "$1" "${1%%.*}" > takes.cmake
  cmake -P takes.cmake 2>&1
}
expect TRUE takes 1.0 1.7.3
expect FALSE takes 1.8 1.7.3
expect FALSE takes 1.0 2.0.0

cp -r "$here/consumer" source
mkdir source/kernels
echo '#define FACTOR 2' > source/kernels/factor.h
cat > source/kernels/scale.cl << 'END'
#include "factor.h"
kernel void scale(global int* values) { values[get_global_id(0)] *= FACTOR * TIMES; }
END
# The build of the bundle must succeed without this program.
echo '#error no device has this' > source/kernels/nowhere.cl
# A typical project: find_package, kernels embedded in one program and installed beside another.
cat > source/CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 14) # clbin::clbin and the launchers raise it to C++17
find_package(clbin REQUIRED)
find_package(OpenCL REQUIRED)

clbin_add_kernels(scale_kernels SOURCES kernels/scale.cl INCLUDES kernels DEFINES TIMES=2
  EMBED LAUNCHERS)
clbin_add_kernels(scale SOURCES kernels/scale.cl kernels/nowhere.cl OPTIONAL nowhere DEFINES TIMES=2
  VARIANTS default= "fast=-cl-fast-relaxed-math" INSTALL share/consumer)

add_executable(embedded embedded.cpp)
target_link_libraries(embedded PRIVATE scale_kernels clbin::clbin OpenCL::OpenCL)
add_executable(beside beside.cpp)
target_link_libraries(beside PRIVATE clbin::clbin OpenCL::OpenCL)
install(TARGETS embedded beside)
END
use_static=OFF
[[ $linkage == static ]] && use_static=ON
configure=(cmake -S source -B out -G "$generator" "-DCMAKE_PREFIX_PATH=$scratch/prefix"
  "-DCLBIN_USE_STATIC=$use_static" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
"${configure[@]}" > configure.log || { cat configure.log; exit 1; }
rebuild() { cmake --build out "$@" > build.log 2>&1 || { cat build.log; exit 1; }; }
expect_commands() { # expect_commands COUNT: the builds that have added to compile_commands.json
  [[ $(grep -c 'Adding .* to compile_commands' build.log) == "$1" ]] ||
    { say "not $1 targets added to compile_commands.json"; cat build.log; exit 1; }
  expect "beside.cpp embedded.cpp nowhere.cl scale.cl" python3 - out/compile_commands.json <<< '
import json, os, sys
files = {os.path.basename(entry["file"]) for entry in json.load(open(sys.argv[1]))}
print(*sorted(name for name in files if name.endswith((".cl", ".cpp"))))'
}
compiled() { grep -c 'Compiling OpenCL kernels' build.log || true; }

rebuild --target scale_kernels # the dependency of a library that only includes its headers
for header in scale_kernels.h scale_kernels.hpp; do
  [[ -f out/scale_kernels_embedded/$header ]] || { say "the target scale_kernels made no $header"; exit 1; }
done
rebuild --parallel 4
expect_commands 2
if ! out/embedded > first.txt 2>&1; then
  if ! "$scratch/prefix/bin/oclcc" --list-devices > devices.txt 2>&1; then
    say "there is no OpenCL device"
    exit 77
  fi
fi
expect "4 40 from an entry" out/embedded
expect "4 40 from an entry" out/beside out/scale.clbin

rebuild
[[ $(compiled) == 0 ]] || { say "kernels are compiled again though nothing changed"; exit 1; }
expect_commands 0
touch source/CMakeLists.txt # CMake writes its own commands anew
rebuild --parallel 4
expect_commands 2
[[ $(compiled) == 0 ]] || { say "kernels are compiled again for compile_commands.json"; exit 1; }
echo '#define FACTOR 3' > source/kernels/factor.h
until touch source/kernels/factor.h && [[ source/kernels/factor.h -nt out/embedded ]]; do sleep 0.01; done
rebuild
[[ $(compiled) == 2 ]] || { say "a changed header rebuilt $(compiled) bundles, not 2"; cat build.log; exit 1; }
expect "6 60 from an entry" out/embedded
expect "6 60 from an entry" out/beside out/scale.clbin
rebuild
[[ $(compiled) == 0 ]] || { say "kernels are compiled again after a rebuild"; exit 1; }

# Only the shipped files: no kernels, no oclcc, no build folder.
cmake --install out --prefix "$scratch/shipped" > install.log
mkdir lib
cp -P prefix/lib*/libclbin.so* lib/ 2> /dev/null || cp -P prefix/lib/*/libclbin.so* lib/
if readelf --dynamic lib/libclbin.so.1 | grep 'NEEDED.*libfmt'; then
  say "libclbin.so.1 needs libfmt, whose name differs between releases"
  exit 1
fi
rm -r prefix source out
expect "6 60 from an entry" env LD_LIBRARY_PATH="$scratch/lib:${LD_LIBRARY_PATH:-}" \
  PATH=/nowhere shipped/bin/embedded
expect "6 60 from an entry" env LD_LIBRARY_PATH="$scratch/lib:${LD_LIBRARY_PATH:-}" \
  shipped/bin/beside shipped/share/consumer/scale.clbin
needed=$(readelf --dynamic shipped/bin/embedded | grep -c 'libclbin.so.1' || true)
[[ $needed == "$([[ $linkage == shared ]] && echo 1 || echo 0)" ]] || {
  say "$linkage: the program needs libclbin.so.1 $needed times"
  exit 1
}
say "passed"
