#!/usr/bin/env bash
# Faults of drivers, caches and processes, as tests/faults injects them on Linux, in a program for
# Windows: Wine's OpenCL.dll calls the ICD loader of this machine, which opens the layer of faults.
# Leaves out what Wine 8 changes: it returns from a driver's call that crashes, does not link, and
# has other texts for folders of other users. faults.sh [--all] BUILD HOST_PROGRAM EMULATOR…
# --all: also those that take minutes.
set -euo pipefail
all=no
if [[ $1 == --all ]]; then
  all=yes
  shift
fi
build=$1 program=$2
shift 2
skip() {
  echo "skipped: $*"
  exit 77
}
tests=$build/tests/faults
[[ -x $tests/test_scenario_table ]] || skip "no $tests/test_scenario_table (cmake --build --preset dev)"
for driver in pocl oclgrind; do
  [[ -e $build/platforms/$driver.icd ]] || skip "$driver is not installed"
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
{
  echo '#!/bin/bash'
  echo "export CLBIN_CACHE_DIR=\"Z:\${CLBIN_CACHE_DIR//\\//\\\\}\""
  printf 'exec'
  printf ' %q' "$@" "$program"
  echo ' "$@"'
} >"$folder/host"
chmod +x "$folder/host"
mkdir "$folder/platforms"
cp "$build"/platforms/{pocl,oclgrind}.icd "$folder/platforms"
export CLBIN_TEST_HOST=$folder/host POCL_CACHE_DIR=$folder/pocl
# Keeps Wine's server alive between the starts.
exec 9> >("$@" cmd /c more >"$folder/more" 2>&1)

inject() { # PLATFORMS TEST PATTERN
  echo "$2 ($3)"
  OCL_ICD_VENDORS=$1 "$tests/$2" --gtest_brief=1 "--gtest_filter=$3"
}
user_cache=$folder/platforms/oclgrind.icd # PoCL has its own
inject "$folder/platforms" test_scenario_table '-*AHostThatLoadingKills*:*OtherDeaths*:*SourceBuildsOrTellsWhy'
if [[ $all == no ]]; then
  inject "$user_cache" test_run_time_faults '*Killed*/Build:*SixtyFour*/Build:*Damaged*/Build:*CannotBuild*/Build'
else
  inject "$user_cache" test_run_time_faults '*/Build'
  inject "$user_cache" test_cache_folder_faults '*WorldWritableLater*:*AnEntryThat*:*AnEntryOf*:*Clock*:*Cut*:*FlippedBits*'
  inject "$user_cache" test_cache_folder_processes '*'
fi
