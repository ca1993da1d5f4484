#!/usr/bin/env bash
# The table of faults of Linux (tests/faults/scenario_table.cpp), injected into a program for Windows
# on PoCL: Wine's OpenCL.dll calls the ICD loader of this machine, which opens the layer of faults.
# faults.sh BUILD HOST_PROGRAM EMULATOR…
set -euo pipefail
build=$1 program=$2
shift 2
skip() {
  echo "skipped: $*"
  exit 77
}
table=$build/tests/faults/test_scenario_table
[[ -x $table ]] || skip "no $table (cmake --build --preset dev --target test_scenario_table)"
[[ -e /etc/OpenCL/vendors/pocl.icd ]] || skip "PoCL is not installed"

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
cp /etc/OpenCL/vendors/pocl.icd "$folder/platforms"
# Its driver serves the rows of the user cache, which PoCL does not need.
cp "$build/platforms/oclgrind.icd" "$folder/platforms" || echo "without Oclgrind: no row of the user cache"
# Left out is what Wine 8 changes: it returns from a driver's call that crashes, and does not link.
OCL_ICD_VENDORS=$folder/platforms CLBIN_TEST_HOST=$folder/host POCL_CACHE_DIR=$folder/pocl "$table" \
  --gtest_brief=1 --gtest_filter=-*AHostThatLoadingKills*:*OtherDeaths*:*SourceBuildsOrTellsWhy
