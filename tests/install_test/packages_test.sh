#!/usr/bin/env bash
# packages_test.sh BUILD_FOLDER: makes the packages, unpacks them in a scratch root, and uses them.
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
say() { printf 'packages_test: %s\n' "$*"; }

(cd "$build" && cpack -B "$scratch/packages") > "$scratch/cpack.log" || { cat "$scratch/cpack.log"; exit 1; }
cd "$scratch"
mkdir root
for package in oclcc libclbin1 libclbin-dev; do
  file=$(echo packages/"${package}"_*.deb)
  dpkg-deb --extract "$file" root
  dpkg-deb --field "$file" Package Depends
  grep --quiet '^License: Apache-2.0$' "root/usr/share/doc/$package/copyright" || {
    say "$package has no copyright file" >&2
    exit 1
  }
done > fields
require() { grep -E -- "$1" fields > /dev/null || { say "no line like '$1' in:"; cat fields; exit 1; }; }
require '^Package: oclcc$'
require '^Package: libclbin1$'
require '^Depends: .*libzstd1 .*'
require '^Depends: libclbin1 \(= [0-9.]+\), .*libsodium-dev'
if grep -E 'Depends: .*(libOpenCL|ocl-icd)' fields; then
  say "a package needs OpenCL, which is opened at run time"
  exit 1
fi

[[ -x root/usr/bin/cl_offline_compiler ]] || { say "there is no bin/cl_offline_compiler"; exit 1; }
root/usr/bin/oclcc --version | grep '^oclcc '
root/usr/bin/oclcc-storage-http --version | grep '^oclcc-storage-http '
# Nothing but that program contains network code.
linked=$(find root/usr/bin/oclcc root/usr/lib -type f \( -name oclcc -o -name '*.so*' \) -exec readelf --dynamic {} + | grep -c 'NEEDED.*libcurl' || true)
[[ $linked == 0 ]] || { say "$linked programs and libraries link libcurl"; exit 1; }
man_pages=$(find root/usr/share/man -type f | wc -l)
[[ $man_pages == 12 ]] || { say "$man_pages manual pages"; exit 1; }
# The folder in which bash looks for it, and named after the command.
bash -c 'source root/usr/share/bash-completion/completions/oclcc && complete -p oclcc' | grep _oclcc
# The folders in which Debian's shells look for them, and file(1)'s magic.
for file in zsh/vendor-completions/_oclcc fish/vendor_completions.d/oclcc.fish oclcc/clbin.magic; do
  [[ -f root/usr/share/$file ]] || { say "there is no share/$file"; exit 1; }
done
library=$(dirname "$(find root -name libclbin.so)")
[[ -f $library/libclbin_layer.so ]] || { say "there is no libclbin_layer.so"; exit 1; }
# Nothing but the interface of layers leaves it: it lives in the processes of others.
exported=$(nm --dynamic --defined-only "$library/libclbin_layer.so" | awk '{ print $3 }' | xargs)
[[ $exported == "clDeinitLayer clGetLayerInfo clInitLayer clInitLayerWithProperties" ]] || {
  say "libclbin_layer.so exports $exported"
  exit 1
}
export PKG_CONFIG_PATH=$scratch/$library/pkgconfig
flags=$(pkg-config --cflags --libs clbin | sed 's/ *$//') # in /usr, tools find it without options
[[ $flags == -lclbin ]] || { say "pkg-config prints '$flags'"; exit 1; }
gcc -std=c99 "$here/../c_smoke_test.c" -Iroot/usr/include "-L$library" -lclbin -o smoke
LD_LIBRARY_PATH=$library ./smoke "$build/tests/sample.clbin"

# The archive works in any folder.
mkdir moved
tar --zstd -xf packages/oclcc-*.tar.zst -C moved --strip-components 1
moved/bin/oclcc --version | grep '^oclcc '
library=$(dirname "$(find moved -name libclbin.so)")
export PKG_CONFIG_PATH=$scratch/$library/pkgconfig
read -ra flags <<< "$(pkg-config --cflags --libs clbin)"
gcc -std=c99 "$here/../c_smoke_test.c" "${flags[@]}" -o smoke_moved
LD_LIBRARY_PATH=$library ./smoke_moved "$build/tests/sample.clbin"
say "passed"
