#!/usr/bin/env bash
# Runs every fuzz target for SECONDS, each on a copy of its corpus, one per core. Fails on any
# finding.
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

corpora=$build/tests/fuzz/corpus # which CMake unpacks
binaries=$here/../unit/format/binaries
declare -A more_seeds=([binary_kind]="$binaries" [load]="$corpora/bundle_reader" [reflection]="$binaries"
  [containers]="$binaries")

things=("$@")
if [ ${#things[@]} -eq 0 ]; then
  for target in "$build"/tests/fuzz/fuzz_*; do
    [ -x "$target" ] && things+=("$(basename "${target#"$build"/tests/fuzz/fuzz_}")")
  done
fi
if [ ${#things[@]} -eq 0 ]; then
  echo "$0: no fuzz targets in '$build/tests/fuzz' (cmake --preset asan-ubsan)" >&2
  exit 1
fi

findings=$build/fuzz_findings
mkdir -p "$findings"

# Leaves THING.log, and THING.passed if there was no finding.
fuzz() {
  local thing=$1 work folder
  rm -f "$findings/$thing.passed"
  : >"$findings/$thing.log"
  work=$(mktemp -d)
  cp "$corpora/$thing"/* "$work"
  for folder in ${more_seeds[$thing]:-}; do
    find "$folder" -type f -exec cp {} "$work" \;
  done
  if "$build/tests/fuzz/fuzz_$thing" -max_total_time="$seconds" -rss_limit_mb=2048 \
    -malloc_limit_mb=1024 -timeout=20 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$findings/$thing-" "$work" >"$findings/$thing.log" 2>&1; then
    touch "$findings/$thing.passed"
  fi
  rm -rf "$work"
}

cores=$(nproc)
for thing in "${things[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$cores" ]; do
    wait -n || true # the files of a run show what it found
  done
  fuzz "$thing" &
done
wait

failed=()
for thing in "${things[@]}"; do
  printf '%s: %s s\n' "$thing" "$seconds"
  if [ -f "$findings/$thing.passed" ]; then
    grep -E 'stat::number_of_executed_units|cov:' "$findings/$thing.log" | tail -n 2
  else
    failed+=("$thing")
    tail -n 60 "$findings/$thing.log" >&2
  fi
done

if [ ${#failed[@]} -ne 0 ]; then
  echo "findings in: ${failed[*]} (inputs and logs in '$findings')" >&2
  exit 1
fi
