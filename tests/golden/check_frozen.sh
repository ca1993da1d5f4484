#!/usr/bin/env bash
# check_frozen.sh FOLDER GENERATOR: checks that the files of FOLDER are exactly those of sha256sums,
# and that the generator refuses to write there.
set -euo pipefail
folder=$1 generator=$2
cd "$folder"
sha256sum --check --strict --quiet sha256sums
diff <(cut -c67- sha256sums | LC_ALL=C sort) <(find . -type f ! -name sha256sums -printf '%P\n' | LC_ALL=C sort)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp sha256sums "$scratch"
if message=$("$generator" "$scratch" 2>&1); then
  echo "check_frozen: the generator wrote into a frozen folder"
  exit 1
fi
[[ $message == "golden_generator: $scratch is frozen" && $(ls "$scratch") == sha256sums ]] ||
  { echo "check_frozen: the generator says '$message'"; exit 1; }
