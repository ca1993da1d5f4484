#!/usr/bin/env bash
# pkg_config_test.sh BUILD_FOLDER: builds the C smoke test with what pkg-config says of an installed
# prefix, shared and static.
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cmake --install "$build" --prefix "$scratch/prefix" > install.log
pc=$(find prefix -name clbin.pc)
PKG_CONFIG_PATH=$scratch/$(dirname "$pc")
export PKG_CONFIG_PATH
library=$(dirname "$PKG_CONFIG_PATH")
read -ra flags <<< "$(pkg-config --cflags --libs clbin)"
gcc -std=c99 -Wall -Wextra -Wpedantic -Werror "$here/../c_smoke_test.c" "${flags[@]}" -o shared
LD_LIBRARY_PATH=$library ./shared "$build/tests/unit/c_api/sample.clbin"
rm "$library"/libclbin.so*
read -ra flags <<< "$(pkg-config --static --cflags --libs clbin)"
gcc -std=c99 "$here/../c_smoke_test.c" "${flags[@]}" -o static
./static "$build/tests/unit/c_api/sample.clbin"
echo "pkg_config_test: passed"
