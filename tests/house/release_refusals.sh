#!/usr/bin/env bash
# script/release refuses what is no release, compares two builds, and leaves a whole release or none.
# The project is a small one, whose build programs are fakes.
# Usage: release_refusals.sh ROOT
set -euo pipefail
root=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "release_refusals: $*" >&2; exit 1; }
unset RELEASE_KEY
if ! command -v zstd >/dev/null; then
  echo "release_refusals: zstd, a package of 'script/bootstrap', is not installed"
  exit 77
fi

export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
export GIT_COMMITTER_DATE="2026-11-29 12:00:00 +0100" TMPDIR=$scratch/tmp
mkdir -p "$scratch"/{bin,tmp,project/{script,debian,libclbin/include/clbin,python/src/clbin,examples/packaging/nix}}
cd "$scratch/project"
cp "$root/script/release" script
echo 'project(oclcc VERSION 1.2.3 DESCRIPTION "x")' >CMakeLists.txt
printf 'oclcc (1.2.3-1) unstable; urgency=medium\n\n  * x\n' >debian/changelog
echo 'Maintainer: A <a@b>' >debian/control
printf '#define CLBIN_VERSION_%s\n' 'MAJOR 1' 'MINOR 2' 'PATCH 3' 'NUMBER 4' >libclbin/include/clbin/clbin.h
echo '__version__ = "1.2.3"' >python/src/clbin/_version.py
printf '# Changelog\n\n## 1.2.3 (2026-11-29)\nx\n\n## 1.2.2\n' >CHANGELOG.md
echo '@VERSION@ @URL@ @SHA256@ @SHA512@' >examples/packaging/nix/default.nix
echo /build/ >.gitignore
printf '#!/bin/sh\n' >script/bootstrap
# The wheel contains the standard output of script/planted.
printf '#!/bin/sh\nmkdir -p build/wheel/dist\n. script/planted >build/wheel/dist/clbin-1.2.3.whl\n' >script/wheel
# The folder contains files whose modes and order the archive must not have.
printf '#!/bin/sh\nmkdir "$1"\ntouch "$1/b" "$1/a"\n' >script/vendor
echo 'echo "$SOURCE_DATE_EPOCH"' >script/planted
printf '#!/bin/sh\nmkdir -p build/portable\n' >"$scratch/bin/cmake"
# Words: -B DIR -D NAME=VALUE. What it installs has modes and times that the archive must not have.
printf '#!/bin/sh\nf=$2/_CPack_Packages/Linux/TZST/${4#*=}\nmkdir -p "$f"; echo 1 >"$f/b"; echo 2 >"$f/a"\n' >"$scratch/bin/cpack"
chmod +x script/* "$scratch"/bin/*
export PATH=$scratch/bin:$PATH
git init -q -b main
commit() { git add -A && git commit -q -m x --allow-empty; }
commit

left() { find build "$TMPDIR" -mindepth 1 2>/dev/null; }
release() { script/release --without-debian "$@" >"$scratch/output" 2>&1; }
# expect_refused MESSAGE WORD…: there is no release, and nothing else is left.
expect_refused() {
  if release "${@:2}"; then fail "it accepts what is refused by '$1'"; fi
  grep -qxF -- "script/release: error: $1" "$scratch/output" || fail "it does not print '$1' but: $(cat "$scratch/output")"
  [[ -z $(left) ]] || fail "'$1' leaves $(left)"
}
# expect_disagreement FILE MESSAGE SED
expect_disagreement() {
  sed -i "$3" "$1"
  commit
  expect_refused "$1 is about version '$2', and CMakeLists.txt about '1.2.3'" --unsigned
  git reset -q --hard HEAD~
}
touch new_file
expect_refused "the tree has changes that are not committed: ?? new_file" --unsigned
rm new_file
echo >>CHANGELOG.md
expect_refused "the tree has changes that are not committed:  M CHANGELOG.md" --unsigned
git checkout -q CHANGELOG.md
expect_disagreement debian/changelog 1.2.4 1s/1.2.3/1.2.4/
expect_disagreement libclbin/include/clbin/clbin.h 1.3.3 's/MINOR 2/MINOR 3/'
expect_disagreement python/src/clbin/_version.py 1.2 s/1.2.3/1.2/
expect_disagreement CHANGELOG.md Unreleased 's/^## 1.2.3.*/## Unreleased/'
expect_refused "the tag of version 1.2.3 is v1.2.3, not 'v1.2'" --unsigned --tag v1.2
expect_refused "HEAD does not have the tag 'v1.2.3'" --unsigned --tag v1.2.3
expect_refused "there is no key: use --key FILE, or --unsigned"
expect_refused "cannot read the key '$PWD/none'" --key none

# A release. The two builds differ in many things that these artifacts must not contain.
git tag v1.2.3
release --unsigned --tag v1.2.3 --url https://example.org/x "$scratch/first" || fail "it fails: $(cat "$scratch/output")"
grep -qx 'script/release: warning: SHA256SUMS is not signed' "$scratch/output" || fail "it does not warn"
names="SHA256SUMS clbin-1.2.3.whl libclbin-1.2.3-vendored.tar.gz oclcc-1.2.3-linux-$(uname -m).tar.zst oclcc-1.2.3-recipes.tar.gz oclcc-1.2.3.tar.gz"
[[ $(cd "$scratch/first" && LC_ALL=C && echo *) == "$names" ]] || fail "the release contains $(ls "$scratch/first")"
(cd "$scratch/first" && sha256sum --quiet --check --strict SHA256SUMS)
[[ $(wc -l <"$scratch/first/SHA256SUMS") == 5 ]] || fail "SHA256SUMS has not five lines"
sum=$(sed -n 's/ .*oclcc-1.2.3.tar.gz$//p' "$scratch/first/SHA256SUMS")
[[ $(tar -xOf "$scratch/first/oclcc-1.2.3-recipes.tar.gz" oclcc-1.2.3-recipes/nix/default.nix) == \
  "1.2.3 https://example.org/x/oclcc-1.2.3.tar.gz $sum $(sha512sum <"$scratch/first/oclcc-1.2.3.tar.gz" | sed 's/ .*//')" ]] ||
  fail "the recipe is not complete"
[[ $(tar -tf "$scratch/first/libclbin-1.2.3-vendored.tar.gz" | xargs) == \
  "libclbin-1.2.3/ libclbin-1.2.3/a libclbin-1.2.3/b" ]] || fail "the vendored archive is not sorted"
expect_refused "'$scratch/first' exists" --unsigned "$scratch/first"

listed=$(TZ=UTC tar -tvf "$scratch/first/oclcc-1.2.3-linux-$(uname -m).tar.zst" | sed 's/  */ /g; s/x86_64\|aarch64/M/')
time=$(TZ=UTC date -d "$GIT_COMMITTER_DATE" '+%F %R')
[[ $listed == "drwxr-xr-x 0/0 0 $time oclcc-1.2.3-linux-M/
-rw-r--r-- 0/0 2 $time oclcc-1.2.3-linux-M/a
-rw-r--r-- 0/0 2 $time oclcc-1.2.3-linux-M/b" ]] || fail "the archive contains $listed"

if command -v minisign >/dev/null; then
  minisign -G -W -p "$scratch/key.pub" -s "$scratch/key" >/dev/null
  release --key "$scratch/key" || fail "it fails with a key: $(cat "$scratch/output")"
  minisign -V -q -p "$scratch/key.pub" -m build/release-1.2.3/SHA256SUMS || fail "the signature is wrong"
  rm -r build
fi

# What depends on the path, the umask, the time zone or the cache of compilers is found. No release is left.
export FRESH_MACHINE_CCACHE=$scratch/ccache # of the first build
for planted in pwd umask 'echo "$FRESH_MACHINE_CCACHE"' 'date +%Z' 'echo "$LC_ALL"' 'echo "$CMAKE_BUILD_PARALLEL_LEVEL"'; do
  echo "$planted" >script/planted
  commit
  if release --unsigned; then fail "it does not find what '$planted' prints"; fi
  grep -q '^  clbin-1.2.3.whl .*/second/clbin-1.2.3.whl differ: ' "$scratch/output" ||
    fail "'$planted': it prints $(cat "$scratch/output")"
  [[ $(ls build) == release-1.2.3.differs ]] || fail "it leaves $(ls build)"
  [[ $(ls build/*) == $'first\nsecond' ]] || fail "both builds are not kept"
  rm -r build
done
echo 'echo broken >&2; exit 3' >script/planted
commit
expect_refused "the build failed with status 3" --unsigned
grep -qx broken "$scratch/output" || fail "it does not print what the build printed"

# Terminated while it builds: nothing is left.
printf 'touch %q\nsleep 60\n' "$scratch/started" >script/planted
commit
setsid script/release --without-debian --unsigned >"$scratch/output" 2>&1 &
until [[ -e $scratch/started ]]; do sleep 0.05; done
kill -TERM -- "-$!"
! wait $! || fail "it succeeds though it was terminated"
[[ -z $(left) ]] || fail "a terminated run leaves $(left)"

# Two folders, of which one has other bytes, or another file.
cp -r "$scratch/first" "$scratch/second"
script/release --compare "$scratch/first" "$scratch/second" || fail "equal folders differ"
printf x | dd of="$scratch/second/oclcc-1.2.3.tar.gz" bs=1 seek=9 conv=notrunc status=none
touch "$scratch/second/more"
printf '#!/bin/sh\necho "diffoscope: $*"\nexit 1\n' >"$scratch/bin/diffoscope"
chmod +x "$scratch/bin/diffoscope"
! (cd "$scratch" && project/script/release --compare first second >output 2>&1) || fail "other folders are equal"
[[ $(grep '^diffoscope: ' "$scratch/output") == "diffoscope: $scratch/first/oclcc-1.2.3.tar.gz $scratch/second/oclcc-1.2.3.tar.gz" ]] &&
  grep -qx '  oclcc-1.2.3.tar.gz ../second/oclcc-1.2.3.tar.gz differ: byte 10, line 1' "$scratch/output" &&
  grep -qx '  more: only one build has it' "$scratch/output" &&
  grep -qx 'script/release: error: the builds differ: 2 of 7 files' "$scratch/output" ||
  fail "it prints $(cat "$scratch/output")"
mkdir "$scratch/empty"
! script/release --compare "$scratch/empty" "$scratch/empty" 2>/dev/null || fail "it compares nothing"

# The version is written to every file that states it.
! script/release --set 2.0.0 2>"$scratch/output" || fail "it adds a second section of a released version"
sed -i 's/^## 1.2.3.*/## Unreleased/' CHANGELOG.md
! script/release --set 2.0 2>"$scratch/output" || fail "2.0 is a version"
script/release --set 2.0.0
echo 'echo' >script/planted
commit
release --unsigned || fail "a new version: $(cat "$scratch/output")"
[[ -e build/release-2.0.0/oclcc-2.0.0.tar.gz ]] || fail "the release is not 2.0.0"
grep -qx "## 2.0.0 ($(date -u +%F))" CHANGELOG.md || fail "CHANGELOG.md: $(cat CHANGELOG.md)"
dpkg-parsechangelog --show-field Version 2>/dev/null | grep -qx '2[.]0[.]0-1' ||
  ! command -v dpkg-parsechangelog >/dev/null || fail "debian/changelog: $(cat debian/changelog)"
