#!/usr/bin/env bash
# vendor_test.sh BUILD_FOLDER: script/vendor writes the same files twice. A project that contains them
# compiles them without a warning and without the libraries' own headers, and loads an entry.
set -euo pipefail
build=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cache=$(ccache --get-config cache_dir 2> /dev/null || true) # of the home that is not used below
export HOME=$scratch/home XDG_CACHE_HOME=$scratch/cache POCL_CACHE_DIR=$scratch/pocl
mkdir -p "$HOME" "$XDG_CACHE_HOME" "$POCL_CACHE_DIR"
say() { printf 'vendor_test: %s\n' "$*"; }
fail() {
  say "$@" >&2
  exit 1
}

if ! "$build/oclcc/oclcc" --list-devices > "$scratch/devices"; then
  say "there is no OpenCL device"
  exit 77
fi
if ! command -v dpkg-source > /dev/null; then
  say "there is no dpkg-source to unpack the sources of the libraries"
  exit 77
fi
if ! "$root/script/bootstrap" --vendor > "$scratch/bootstrap.log" 2>&1; then
  [[ ${CI:-} != true ]] || fail "script/bootstrap --vendor: $(cat "$scratch/bootstrap.log")"
  say "the sources of the libraries cannot be fetched"
  exit 77
fi
cd "$scratch"
"$root/script/vendor" clbin &
(cd / && "$root/script/vendor" "$scratch/again")
wait $!
diff -r clbin again || fail "it writes other files in another folder"
files=$(find clbin -type f | wc -l)
[[ $files -le 20 ]] || fail "it writes $files files"
if "$root/script/vendor" clbin 2> messages; then fail "it writes into a folder with files"; fi
grep -q "^script/vendor: error: 'clbin' is not empty$" messages || fail "it prints $(cat messages)"

"$build/oclcc/oclcc" -q "$root/examples/saxpy.cl" -o saxpy.clbin
# Of the bundle, only an entry for the device may serve.
sed 's/^  clbin_report\* report = NULL;/&\n  const clbin_load_options strict = {.struct_size = sizeof strict,\n                                     .fallback = CLBIN_FALLBACK_NEVER};/
  s/"saxpy", NULL, &program/"saxpy", \&strict, \&program/' "$root/examples/load.c" > load.c
grep -q '&strict, &program' load.c || fail "examples/load.c is another one"
cat > open.cpp << 'END'
#include <clbin/clbin.hpp>
#include <cstdio>
int main() {
  try {
    static_cast<void>(clbin::Bundle::open("nowhere.clbin"));
  } catch (const clbin::Error& error) {
    std::puts(error.what());
  }
}
END
cat > CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.16)
project(app C CXX)
set(CMAKE_CXX_STANDARD 14) # clbin::clbin raises it to C++17
add_subdirectory(clbin)
add_executable(load load.c)
target_link_libraries(load PRIVATE clbin::clbin OpenCL)
add_executable(open open.cpp)
target_link_libraries(open PRIVATE clbin::clbin)
END
# The project's own options. libclbin's CMakeLists.txt turns warnings off; here, those of C++ stay on.
flags="-O0 -Wall -Wextra -Werror"
sed -i 's/ PRIVATE -w / PRIVATE $<$<COMPILE_LANGUAGE:C>:-w> /' clbin/CMakeLists.txt
cc -fsyntax-only -Werror=implicit-function-declaration clbin/zstd.c clbin/sodium.c
configure=(cmake -S . -B out -G Ninja "-DCMAKE_C_FLAGS=$flags" "-DCMAKE_CXX_FLAGS=$flags")
if [[ -n $cache ]]; then
  export CCACHE_DIR=$cache CCACHE_BASEDIR=$scratch CCACHE_NOHASHDIR=true
  configure+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
{ "${configure[@]}" && cmake --build out; } > build.log 2>&1 || { cat build.log; fail "the build fails"; }
ninja -C out -t deps > dependencies
grep -q 'clbin_internal[.]hpp' dependencies || fail "ninja prints no dependencies"
if grep -E '/include/(clbin|fmt|tl|nlohmann|CL|sodium|zstd)' dependencies | grep -vE 'clbin/include/clbin|CL/cl[a-z_]*[.]h$'; then
  fail "the sources include headers that are not in the folder"
fi
if sed '/^[^ ]*load[.]c[.]o:/,/^$/d' dependencies | grep '/CL/'; then
  fail "the sources include OpenCL's headers"
fi
# Functions of a library that another part of a program may link, too.
exported=$(nm -g --defined-only out/clbin/libclbin.a | awk 'NF == 3 && $2 ~ /[TDBR]/ && $3 !~ /clbin/')
[[ $exported == "" ]] || fail "libclbin.a defines $exported"

printed=$(out/load saxpy.clbin 2> report) || fail "the program fails: $(cat report)"
[[ $printed == "12 24 36 48" ]] || fail "the program prints '$printed'"
grep -q 'exact identity' report || fail "the program does not print the entry that it used: $(cat report)"
printed=$(out/open)
[[ $printed == "cannot open 'nowhere.clbin': No such file or directory" ]] || fail "open.cpp prints '$printed'"
say "passed"
