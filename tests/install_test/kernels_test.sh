#!/usr/bin/env bash
# kernels_test.sh BUILD_FOLDER: tests DEVICES, TARGETS and signing of clbin_add_kernels(), in a
# project that uses only C++.
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
  "$scratch/prefix/bin/oclcc" --info -v out/k.clbin > info
  grep --quiet 'target    spirv:1.2' info || { say "the bundle is of other targets:"; cat info; exit 1; }
else
  say "the tools of spirv:1.2 are not installed: it is not built"
fi
refuses "unknown argument 'gpu'" EMBED gpu

# Signing, without a driver.
oclcc=$scratch/prefix/bin/oclcc
echo 'kernel void k(global int* a) { *a = 1; }' > source/k.cl
"$oclcc" --keygen source/key --no-passphrase
accepts "--sign-key $scratch/source/key.key --passphrase-file $scratch/source/pass --counter 3" \
  SIGN_KEY key.key PASSPHRASE_FILE pass COUNTER 3
refuses 'SIGN_KEY and SIGN_WITH exclude each other' SIGN_KEY a SIGN_WITH b PUBLIC_KEY c
refuses 'SIGN_WITH needs PUBLIC_KEY' SIGN_WITH b
refuses 'PUBLIC_KEY needs SIGN_WITH' SIGN_KEY a PUBLIC_KEY c
refuses 'COUNTER needs SIGN_KEY or SIGN_WITH' COUNTER 3
refuses 'PASSPHRASE_FILE needs SIGN_KEY' PASSPHRASE_FILE pass
signs() { # signs ARGUMENT…
  configure OPTIONS --source-only "$@"
  OCL_ICD_VENDORS=/nonexistent ninja -C out > log 2>&1 || { say "'$*' does not build:"; cat log; exit 1; }
  "$oclcc" --verify --public-key source/key.pub --least-counter 7 out/k.clbin || { say "'$*' does not sign"; exit 1; }
}
signs SIGN_KEY key.key COUNTER 7
command="cat > b; minisign -S -l -s $scratch/source/key.key -m b > l; cat b.minisig"
signs SIGN_WITH "\"$command\"" PUBLIC_KEY key.pub COUNTER 7
signs SIGN_WITH "\"$command\"" PUBLIC_KEY "$(tail -n 1 source/key.pub)" COUNTER 7

# Encryption, and signing of what is encrypted.
"$oclcc" --keygen source/content --key-type content
"$oclcc" --keygen source/recipient --key-type recipient
accepts "--encrypt-key $scratch/source/content.key --encrypt-for $scratch/source/recipient.pub" \
  ENCRYPT_KEY content.key ENCRYPT_FOR recipient.pub
refuses 'LAUNCHERS with ENCRYPT_FOR needs ENCRYPT_KEY' ENCRYPT_FOR recipient.pub EMBED LAUNCHERS
encrypts() { # encrypts KEY ARGUMENT…
  local key=$1
  shift
  signs SIGN_KEY key.key COUNTER 7 "$@"
  if "$oclcc" --extract out/k.clbin -o extracted 2> log; then say "'$*' does not encrypt"; exit 1; fi
  "$oclcc" --extract --decrypt-key "source/$key" out/k.clbin -o extracted || { say "'$*' is not for $key"; exit 1; }
  cmp extracted/k.source/k.cl source/k.cl
}
encrypts content.key ENCRYPT_KEY content.key
encrypts recipient.key ENCRYPT_FOR recipient.pub
encrypts recipient.key ENCRYPT_FOR "$(tail -n 1 source/recipient.pub)" ENCRYPT_KEY content.key
# A base and packs: these are signed and encrypted.
refuses 'EMBED and SPLIT exclude each other' EMBED SPLIT family
accepts "--split=vendor $scratch/out/k.clbin --encrypt-key $scratch/source/content.key" \
  SPLIT vendor ENCRYPT_KEY content.key
configure OPTIONS --source-only SPLIT family INSTALL share SIGN_KEY key.key COUNTER 7 ENCRYPT_KEY content.key
OCL_ICD_VENDORS=/nonexistent ninja -C out > log 2>&1 || { say "SPLIT does not build:"; cat log; exit 1; }
cmake --install out --prefix installed > log
"$oclcc" --verify --public-key source/key.pub --least-counter 7 --decrypt-key source/content.key installed/share/k.packs
[[ $(ls installed/share/k.packs) == base.clbin ]] || { say "SPLIT makes other files"; exit 1; }
touch source/k.cl
OCL_ICD_VENDORS=/nonexistent ninja -C out -d explain > log 2>&1
grep --quiet 'Splitting OpenCL kernels k' log || { say "SPLIT is not repeated:"; cat log; exit 1; }
say "passed"
