#!/usr/bin/env bash
# Compiles public OpenCL files for the offline targets whose machine code other tools can read, compares
# the numbers of --report with those of these tools, and builds every binary again with --reproduce,
# in another folder and home, and with one job.
#
# Usage: bench/inspected_corpora.sh BUILD_DIR FOLDER...
# Environment: TARGETS, a list; OPTIONS for every file, such as -DREAL=float; JOBS.
# Prints a row of a table for each folder of .cl files. Standard error has a line for each file.
# Needs: llvm-readelf, cuobjdump and ocloc in PATH, and ptxas.
set -uo pipefail
root=$(realpath "$(dirname "$0")/..")
build=$(realpath "${1:?usage: bench/inspected_corpora.sh BUILD_DIR FOLDER...}")
shift
targets=${TARGETS:-cubin:sm_75,sm_80,sm_86,sm_90,sm_120 amdgcn:gfx803,gfx906,gfx908,gfx90a,gfx1010,gfx1030 intel:skl,icllp,tgllp,dg1}
OPTIONS=${OPTIONS:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export build root work targets OPTIONS
export OCL_ICD_VENDORS=/nonexistent XDG_CACHE_HOME=$work/cache

# inspect FILE: prints "compiled", then "KERNELS numbers", "same", "differs", … for what is found.
inspect() {
  local file=$1 folder target
  folder=$(mktemp -d -p "$work") || exit # the script was stopped
  cd "$folder" || exit
  mkdir home other
  local words=()
  local options
  read -ra options <<<"$OPTIONS"
  for target in $targets; do
    words+=(--target "$target")
  done
  "$build/oclcc/oclcc" "$file" -I "$(dirname "$file")" "${options[@]}" "${words[@]}" --no-cache --keep-going -q -j1 \
    -o k.clbin >log 2>&1
  [[ -s k.clbin ]] || { echo "does not compile $file" >&2; echo refused; return; }
  echo compiled
  "$build/oclcc/oclcc" --extract k.clbin -q -o binaries >/dev/null
  "$build/oclcc/oclcc" --report k.clbin --json >report.json
  if ! python3 -B "$root/tests/cli/report/compare.py" report.json binaries >numbers 2>&1; then
    echo "numbers differ: $file: $(tail -1 numbers)" >&2
    echo "differ"
  fi
  sed -n 's/^\([0-9]*\) kernels have the numbers of .*/\1 numbers/p' numbers
  cp k.clbin other
  (cd other && HOME=$folder/home XDG_CACHE_HOME=$folder/home "$build/oclcc/oclcc" --reproduce k.clbin \
    >../reproduced 2>../errors)
  awk '{print $1}' reproduced
  grep -v '^same' reproduced >&2
  rm -rf "$folder"
}
export -f inspect

for folder in "$@"; do
  find "$(realpath "$folder")" -name '*.cl' -print0 | sort -z |
    xargs -0 -n1 -P"${JOBS:-2}" bash -c 'inspect "$1"' bash >"$work/found"
  awk -v name="$(basename "$folder")" '
    $2 == "numbers" {kernels += $1; next} {++count[$1]}
    END {printf "| %s | %d | %d | %d | %d | %d | %d |\n", name, count["compiled"], count["refused"],
                kernels, count["differ"], count["same"], count["differs"] + count["failed"] + count["missing"]}
  ' "$work/found"
done
