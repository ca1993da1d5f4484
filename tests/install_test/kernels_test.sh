#!/usr/bin/env bash
# kernels_test.sh BUILD_FOLDER: tests DEVICES and TARGETS of clbin_add_kernels(), in a project that
# uses only C++.
set -euo pipefail
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
say() { printf 'kernels_test: %s\n' "$*"; }
cmake --install "$build" --prefix "$scratch/prefix" > install.log
mkdir source
touch source/k.cl

configure() { # configure ARGUMENT…: passes the arguments to clbin_add_kernels
  cat > source/CMakeLists.txt << END
cmake_minimum_required(VERSION 3.25)
project(kernels CXX)
find_package(clbin REQUIRED)
clbin_add_kernels(k SOURCES k.cl $*)
END
  cmake -S source -B out -G Ninja "-DCMAKE_PREFIX_PATH=$scratch/prefix" > log 2>&1
}
accepts() { # accepts TEXT ARGUMENT…
  local wanted=$1
  shift
  configure "$@" || { say "'$*' is refused:"; cat log; exit 1; }
  ninja -C out -t commands > printed
  grep --quiet --fixed-strings -- "$wanted" printed ||
    { say "'$*' does not give '$wanted':"; cat printed; exit 1; }
}
refuses() { # refuses TEXT ARGUMENT…
  local wanted=$1
  shift
  if configure "$@"; then
    say "'$*' is accepted"
    exit 1
  fi
  tr -s ' \n' ' ' < log | grep --quiet --fixed-strings -- "$wanted" ||
    { say "'$*' does not report '$wanted':"; cat log; exit 1; }
}

accepts '--device gpu --device 0:1' DEVICES gpu 0:1
accepts '--target cubin:sm_90 --target spirv:1.2' TARGETS cubin:sm_90 spirv:1.2
accepts '--device cpu --target cubin:sm_90' TARGETS cubin:sm_90 DEVICES cpu
for word in gpu 0:1 cubin: NVIDIA; do
  refuses "TARGETS '$word' is not of the form family:name; use DEVICES for patterns" TARGETS "$word"
done
# Without a driver.
if "$scratch/prefix/bin/oclcc" --list-targets | grep --quiet --line-regexp spirv:1.2; then
  echo 'kernel void k(global int* a) { *a = 1; }' > source/k.cl
  configure TARGETS spirv:1.2
  OCL_ICD_VENDORS=/nonexistent ninja -C out > log 2>&1 || { say "TARGETS does not build:"; cat log; exit 1; }
  "$scratch/prefix/bin/oclcc" --info out/k.clbin > info
  grep --quiet 'target    spirv:1.2' info || { say "the bundle is of other targets:"; cat info; exit 1; }
else
  say "the tools of spirv:1.2 are not installed: it is not built"
fi
refuses "unknown argument 'gpu'" EMBED gpu
say "passed"
