#!/usr/bin/env bash
# archive_test.sh BUILD_FOLDER: makes the relocatable archive, unpacks it in a folder, and uses it.
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
say() { printf 'archive_test: %s\n' "$*"; }

(cd "$build" && cpack -B "$scratch/packages") > "$scratch/cpack.log" || { cat "$scratch/cpack.log"; exit 1; }
cd "$scratch"
mkdir moved
tar --zstd -xf packages/oclcc-*.tar.zst -C moved --strip-components 1
for package in oclcc oclcc-layer libclbin1 libclbin-dev; do
  grep --quiet '^License: Apache-2.0$' "moved/share/doc/$package/copyright" || {
    say "$package has no copyright file" >&2
    exit 1
  }
done

[[ -x moved/bin/cl_offline_compiler ]] || { say "there is no bin/cl_offline_compiler"; exit 1; }
moved/bin/oclcc --version | grep '^oclcc '
moved/bin/oclcc-storage-http --version | grep '^oclcc-storage-http '
# Nothing but that program contains network code.
linked=$(find moved/bin/oclcc moved/lib -type f \( -name oclcc -o -name '*.so*' \) -exec readelf --dynamic {} + | grep -c 'NEEDED.*libcurl' || true)
[[ $linked == 0 ]] || { say "$linked programs and libraries link libcurl"; exit 1; }
man_pages=$(find moved/share/man -type f | wc -l)
[[ $man_pages == 12 ]] || { say "$man_pages manual pages"; exit 1; }
# The folder in which bash looks for it, and named after the command.
bash -c 'source moved/share/bash-completion/completions/oclcc && complete -p oclcc' | grep _oclcc
# The folders in which Debian's shells look for them, and file(1)'s magic.
for file in zsh/vendor-completions/_oclcc fish/vendor_completions.d/oclcc.fish oclcc/clbin.magic; do
  [[ -f moved/share/$file ]] || { say "there is no share/$file"; exit 1; }
done
library=$(dirname "$(find moved -name libclbin.so)")
[[ -f $library/libclbin_layer.so ]] || { say "there is no libclbin_layer.so"; exit 1; }
# Nothing but the interface of layers leaves it: it lives in the processes of others.
exported=$(nm --dynamic --defined-only "$library/libclbin_layer.so" | awk '{ print $3 }' | xargs)
[[ $exported == "clDeinitLayer clGetLayerInfo clInitLayer clInitLayerWithProperties" ]] || {
  say "libclbin_layer.so exports $exported"
  exit 1
}
export PKG_CONFIG_LIBDIR=$scratch/$library/pkgconfig # without other packages
read -ra flags <<< "$(pkg-config --cflags --libs clbin)"
gcc -std=c99 "$here/../c_smoke_test.c" "${flags[@]}" -o smoke
LD_LIBRARY_PATH=$library ./smoke "$build/tests/sample.clbin"
[[ $(pkg-config --libs --static clbin) == *' -lzstd -lsodium '* ]] || { say "pkg-config --static does not name zstd and libsodium"; exit 1; }
say "passed"
