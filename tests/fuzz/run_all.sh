#!/usr/bin/env bash
# Runs every fuzz target for SECONDS, each on a copy of its corpus; fails on any finding.
#   tests/fuzz/run_all.sh SECONDS BUILD_FOLDER [THING…]
set -euo pipefail

if [ $# -lt 2 ]; then
  echo "usage: $0 SECONDS BUILD_FOLDER [THING…]" >&2
  exit 2
fi
seconds=$1
build=$(cd "$2" && pwd)
shift 2
here=$(cd "$(dirname "$0")" && pwd)

declare -A more_seeds=([binary_kind]="$here/../unit/format/binaries")

things=("$@")
if [ ${#things[@]} -eq 0 ]; then
  for target in "$build"/tests/fuzz/fuzz_*; do
    [ -x "$target" ] && things+=("$(basename "${target#"$build"/tests/fuzz/fuzz_}")")
  done
fi
if [ ${#things[@]} -eq 0 ]; then
  echo "$0: no fuzz targets in '$build/tests/fuzz' (cmake --preset fuzz)" >&2
  exit 1
fi

findings=$build/fuzz_findings
mkdir -p "$findings"
failed=()
for thing in "${things[@]}"; do
  work=$(mktemp -d)
  cp "$here/corpus/$thing"/* "$work"
  for folder in ${more_seeds[$thing]:-}; do
    find "$folder" -type f -exec cp {} "$work" \;
  done
  printf '%s: %s s from %s seeds\n' "$thing" "$seconds" "$(find "$work" -type f | wc -l)"
  log=$findings/$thing.log
  if "$build/tests/fuzz/fuzz_$thing" -max_total_time="$seconds" -rss_limit_mb=2048 \
      -malloc_limit_mb=1024 -timeout=20 -max_len=65536 -print_final_stats=1 \
      -artifact_prefix="$findings/$thing-" "$work" >"$log" 2>&1; then
    grep -E 'stat::number_of_executed_units|cov:' "$log" | tail -n 2
  else
    failed+=("$thing")
    tail -n 60 "$log" >&2
  fi
  rm -rf "$work"
done

if [ ${#failed[@]} -ne 0 ]; then
  echo "findings in: ${failed[*]} (inputs and logs in '$findings')" >&2
  exit 1
fi
