#!/usr/bin/env bash
# pkg_config_test.sh BUILD_FOLDER: builds the C smoke test against an installed prefix, shared and
# static: with CMake in a project that uses only C, and with the flags of pkg-config.
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
say() { printf 'pkg_config_test: %s\n' "$*"; }
bundle=$build/tests/sample.clbin
cmake --install "$build" --prefix "$scratch/prefix" > install.log

mkdir c_only
cat > c_only/CMakeLists.txt << END
cmake_minimum_required(VERSION 3.25)
project(c_only C)
find_package(clbin REQUIRED)
add_executable(smoke $here/../c_smoke_test.c)
target_link_libraries(smoke PRIVATE clbin::clbin)
END
for static in OFF ON; do
  { cmake -S c_only -B "out$static" -G Ninja "-DCMAKE_PREFIX_PATH=$scratch/prefix" \
    "-DCLBIN_USE_STATIC=$static" && cmake --build "out$static"; } > cmake.log 2>&1 ||
    { cat cmake.log; exit 1; }
  "out$static/smoke" "$bundle"
done

pc=$(find prefix -name clbin.pc)
PKG_CONFIG_PATH=$scratch/$(dirname "$pc")
export PKG_CONFIG_PATH
library=$(dirname "$PKG_CONFIG_PATH")
read -ra flags <<< "$(pkg-config --cflags --libs clbin)"
[[ ${flags[*]} == "-I$scratch/prefix/include -L$library -lclbin" ]] ||
  { say "pkg-config prints '${flags[*]}'"; exit 1; }
gcc -std=c99 -Wall -Wextra -Wpedantic -Werror "$here/../c_smoke_test.c" "${flags[@]}" -o shared
LD_LIBRARY_PATH=$library ./shared "$bundle"
rm "$library"/libclbin.so*
read -ra flags <<< "$(pkg-config --static --cflags --libs clbin)"
gcc -std=c99 "$here/../c_smoke_test.c" "${flags[@]}" -o static
./static "$bundle"
# As libclbin(3) prints it.
gcc -DCLBIN_STATIC "$here/../c_smoke_test.c" "-I$scratch/prefix/include" "-L$library" \
  -l:libclbin.a -lzstd -lsodium -pthread -ldl -lstdc++ -o archive
./archive "$bundle"
# All libraries that it needs also exist as archives. The linker warns of dlopen and getpwuid_r.
gcc -std=c99 -static "$here/../c_smoke_test.c" "${flags[@]}" -o all_static 2> link.log ||
  { cat link.log; exit 1; }
./all_static "$bundle"
say "passed"
