#!/bin/sh
# Compiles, checks and signs the kernels of a product, on a machine without a GPU. github.yml and
# gitlab.yml run it.
#
# Reads: kernels/*.cl; TARGETS, offline targets with spaces between them; previous.clbin, the bundle of the last release, if
# there is one; SIGNING_KEY, the text of a secret key without a passphrase, if it is set.
# Writes: out/kernels.clbin, out/kernels.html, out/resources.csv, out/provenance.json, out/sbom.json.
# Exit status 1: a kernel does not compile, or needs more than LIMITS permit.
set -eu
: "${TARGETS:=nvptx:sm_50 amdgcn:gfx1030 amdgcn:gfx1100 spirv:1.2}"
: "${LIMITS:=spills,scratch,registers+10%,size+10%}"

mkdir -p out
set --
for target in $TARGETS; do
  set -- "$@" --target "$target"
done
oclcc kernels/*.cl "$@" -o out/kernels.clbin
oclcc --report out/kernels.clbin --csv > out/resources.csv
if [ -e previous.clbin ]; then # the page is written even if this fails
  oclcc --report out/kernels.clbin --against previous.clbin --fail-on "$LIMITS" --html out/kernels.html
else
  oclcc --report out/kernels.clbin --html out/kernels.html
fi
if [ -n "${SIGNING_KEY:-}" ]; then
  umask 077
  trap 'rm -f signing.key' EXIT
  printf '%s\n' "$SIGNING_KEY" > signing.key
  oclcc --sign --key signing.key out/kernels.clbin
fi
oclcc --provenance out/kernels.clbin -o out/provenance.json
oclcc --sbom out/kernels.clbin -o out/sbom.json
