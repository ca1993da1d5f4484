#!/usr/bin/env bash
# examples_test.sh BUILD_FOLDER: compiles the programs of examples/ against an installed prefix,
# without a warning, and runs them.
set -euo pipefail
build=$1
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch/home XDG_CACHE_HOME=$scratch/cache POCL_CACHE_DIR=$scratch/pocl
mkdir -p "$HOME" "$XDG_CACHE_HOME" "$POCL_CACHE_DIR"
fail() { printf 'examples_test: %s\n' "$*" >&2; exit 1; }

cmake --install "$build" --prefix "$scratch/prefix" > "$scratch/install.log"
if ! "$scratch/prefix/bin/oclcc" --list-devices > "$scratch/devices"; then
  echo "examples_test: there is no OpenCL device"
  exit 77
fi
cd "$scratch"
cp -r "$examples" examples
warnings='-Wall -Wextra -Wpedantic -Werror'
{
  cmake -S examples -B out "-DCMAKE_PREFIX_PATH=$scratch/prefix" "-DCMAKE_C_FLAGS=$warnings" \
    "-DCMAKE_CXX_FLAGS=$warnings" && cmake --build out
} > build.log 2>&1 || { cat build.log; fail "the build fails"; }

expect() { # expect LINE COMMAND…
  local line=$1 printed
  shift
  printed=$("$@" 2> stderr) || fail "'$*' exits with $?: $(cat stderr)"
  [[ $printed == "$line" ]] || fail "'$*' prints '$printed', not '$line'"
}
expect "12 24 36 48" out/embedded
for program in load_c load_cpp; do
  expect "12 24 36 48" out/$program out/kernels.clbin
  grep -q 'exact identity' stderr || fail "$program does not print the entry that it used"
  if out/$program nowhere.clbin 2> stderr; then fail "$program loads a bundle that is not there"; fi
  grep -q "nowhere.clbin" stderr || fail "$program prints '$(cat stderr)' for a bundle that is not there"
done

# An application that runs while its kernels change.
cp examples/saxpy.cl saxpy.cl
"$scratch/prefix/bin/oclcc" -q --watch saxpy.cl -o saxpy.clbin &
watch=$!
until [[ -e saxpy.clbin ]] || ! kill -0 $watch; do sleep 0.05; done
out/reload_cpp saxpy.clbin > printed &
trap 'kill $watch $!; rm -rf "$scratch"' EXIT
await() { # await LINE: waits until reload_cpp prints it
  for _ in $(seq 1000); do
    grep -qx "$1" printed && return
    sleep 0.1
  done
  fail "reload_cpp prints '$(cat printed)', not '$1'"
}
await "12 24 36 48"
sed -i 's/+ y\[i\];/+ y[i] + 1;/' saxpy.cl
await "13 25 37 49"
kill $watch $!
trap 'rm -rf "$scratch"' EXIT
for program in build_c build_cpp; do
  rm -rf "$XDG_CACHE_HOME" && mkdir "$XDG_CACHE_HOME"
  expect "2 4 6 8" out/$program 2
  grep -q "there is no optional bundle 'app.clbin'" stderr || fail "$program prints '$(cat stderr)'"
  expect "3 6 9 12" out/$program 3
  if out/$program '"' 2> stderr; then fail "$program builds what is not OpenCL C"; fi
  grep -q 'building .scale. failed' stderr || fail "$program prints '$(cat stderr)'"
done
"$scratch/prefix/bin/oclcc" -q --record app.clbin -- out/build_c 2 > printed
"$scratch/prefix/bin/oclcc" --info -v app.clbin > info
grep -q '^  label  *scale$' info || fail "the recording has no label: $(cat info)"
"$scratch/prefix/bin/oclcc" -v app.clbin -o app.clbin 2> log
grep -q "program '[0-9a-f]*' (label 'scale')" log || fail "oclcc names no label: $(cat log)"
for program in build_c build_cpp; do
  expect "2 4 6 8" out/$program 2
  grep -q 'exact identity' stderr || fail "$program does not use the bundle: $(cat stderr)"
done
