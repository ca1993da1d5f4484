#!/usr/bin/env bash
# Projects for Windows that use what `cmake --install` installs of a cross build: with CMake and with
# pkg-config, the DLL and the static library. Prints the size of a program with the static one.
# install_test.sh SOURCES BUILD WRITE_SAMPLE_BUNDLE EMULATOR…
set -euo pipefail
sources=$1 build=$2 write_bundle=$3 emulator=("${@:4}")
host=x86_64-w64-mingw32
libraries=$sources/build/libraries/windows/usr/lib/$host
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
[[ -f $libraries/pkgconfig/libzstd.pc ]] || {
  echo "skipped: build/libraries/windows is of an earlier script/bootstrap --windows: remove it"
  exit 77
}
fail() {
  printf 'install_test: %s\n' "$*"
  exit 1
}
"${emulator[@]}" "$write_bundle" sample.clbin
cmake --install "$build" --prefix "$folder/prefix" >install.log || fail "$(cat install.log)"
for file in bin/oclcc.exe bin/libclbin.dll lib/libclbin.dll.a lib/libclbin.a include/clbin/clbin.h include/clbin/clbin.hpp \
  lib/cmake/clbin/clbinConfig.cmake lib/pkgconfig/clbin.pc; do
  [[ -f prefix/$file ]] || fail "there is no $file"
done

# Only the DLL lies beside the program: it needs no other.
smoke() { # PROGRAM LINKAGE
  mkdir "run_$2"
  cp "$1" "run_$2/smoke.exe"
  [[ $2 == *static ]] || cp prefix/bin/libclbin.dll "run_$2"
  CLBIN_CACHE_DIR="Z:${PWD//\//\\}\\cache" "${emulator[@]}" "run_$2/smoke.exe" sample.clbin || fail "$2: exit $?"
}
mkdir c_only
cat >c_only/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(c_only C)
find_package(clbin REQUIRED)
add_executable(smoke $sources/tests/c_smoke_test.c)
target_link_libraries(smoke PRIVATE clbin::clbin)
END
for static in OFF ON; do
  {
    cmake -S c_only -B "out$static" -G Ninja -DCMAKE_SYSTEM_NAME=Windows "-DCMAKE_C_COMPILER=$host-gcc-posix" \
      "-DCMAKE_PREFIX_PATH=$folder/prefix" "-DCLBIN_USE_STATIC=$static" -DCMAKE_BUILD_TYPE=Release \
      "-DCMAKE_EXE_LINKER_FLAGS=-static -s -Wl,--gc-sections -L$libraries" && cmake --build "out$static"
  } >cmake.log 2>&1 || fail "$(cat cmake.log)"
done
smoke outOFF/smoke.exe cmake
smoke outON/smoke.exe cmake_static
printf 'install_test: static program: %d bytes\n' "$(stat -c %s outON/smoke.exe)"

export PKG_CONFIG_LIBDIR=$folder/prefix/lib/pkgconfig:$libraries/pkgconfig
flags_of() {
  read -ra flags <<<"$(pkg-config "$@" --cflags --libs clbin)"
}
compile() { # OPTION…
  "$host-gcc-posix" -std=c99 -Wall -Wextra -Werror "$sources/tests/c_smoke_test.c" "${flags[@]}" "-L$libraries" "$@"
}
flags_of
compile -o shared.exe
smoke shared.exe pkg_config
flags_of --static
[[ " ${flags[*]} " == *" -DCLBIN_STATIC "* ]] || fail "pkg-config --static prints '${flags[*]}'"
compile -static -o static.exe
smoke static.exe pkg_config_static
