#!/usr/bin/env bash
# check_frozen.sh FOLDER GENERATOR: every file of FOLDER is the one of sha256sums, none is missing and
# none is new, and the generator refuses to write there.
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
