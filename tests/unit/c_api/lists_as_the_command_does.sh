#!/usr/bin/env bash
# Compares clbin_list_json with oclcc --info --json, for valid and damaged bundles.
# Usage: lists_as_the_command_does.sh OCLCC LIST_BUNDLE FOLDER_OF_BUNDLES...
set -euo pipefail
oclcc=$1 list_bundle=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sound=0
damaged=0

compare() { # compare BUNDLE: counts the bundle, unless it cannot be opened
  local file=$1 status=0 of_command=0
  "$list_bundle" "$file" >"$folder/listing" 2>"$folder/error" || status=$?
  if ((status == 2)); then
    return
  fi
  "$oclcc" --info --json "$file" >"$folder/expected" 2>/dev/null || of_command=$?
  cmp "$folder/listing" "$folder/expected"
  if ((status == 0)); then
    ((of_command == 0)) || { echo "$file: only the command fails" >&2; exit 1; }
    sound=$((sound + 1))
  else
    ((of_command == 4)) || { echo "$file: the command exits with $of_command" >&2; exit 1; }
    damaged=$((damaged + 1))
  fi
}

mapfile -t all < <(find "$@" -name '*.clbin' | sort)
for bundle in "${all[@]}"; do
  compare "$bundle"
  size=$(stat -c %s "$bundle")
  for sixteenth in 8 11 15; do
    cp "$bundle" "$folder/damaged.clbin"
    chmod u+w "$folder/damaged.clbin"
    printf '\xa5\x5a' | dd of="$folder/damaged.clbin" bs=1 seek=$((size * sixteenth / 16)) \
      conv=notrunc status=none
    compare "$folder/damaged.clbin"
  done
done
echo "$sound sound and $damaged damaged bundles"
((sound >= 8 && damaged >= 8))
