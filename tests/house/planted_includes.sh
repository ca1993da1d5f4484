#!/usr/bin/env bash
# .ci/check_layers.py accepts this tree, and reports each include that is planted into a copy of it.
# Usage: planted_includes.sh ROOT
set -euo pipefail
root=$1
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$root/ARCHITECTURE.md" "$root/libclbin" "$root/oclcc" "$root/runtime_demo" "$copy"

check() { "$root/.ci/check_layers.py" "$copy"; }
fail() { echo "planted_includes: $*" >&2; exit 1; }

check || fail "this tree is refused"

# expect_found MESSAGE FILE LINE: adds LINE to FILE for this check only.
expect_found() {
  local message=$1 file=$copy/$2 line=$3 output
  touch "$file"
  cp "$file" "$copy/kept"
  printf '%s\n' "$line" >>"$file"
  if output=$(check); then fail "nothing is found after '$line' in $2"; fi
  grep -qxF "check_layers: $message" <<<"$output" || fail "no line '$message' in: $output"
  mv "$copy/kept" "$file"
}

expect_found "oclcc/terminal/reporter.cpp includes oclcc/compile/compile_job.hpp, which is not below it" \
  oclcc/terminal/reporter.cpp '#include "compile/compile_job.hpp"'
expect_found "oclcc/terminal/reporter.hpp includes oclcc/worker/spawn.hpp, which is not below it" \
  oclcc/terminal/reporter.hpp '# include "worker/spawn.hpp"'
expect_found "oclcc/command_line/bundle_file.hpp includes oclcc/compile.hpp, which is not below it" \
  oclcc/command_line/bundle_file.hpp '#include "compile.hpp"'
expect_found "libclbin/src/base/digest.hpp includes libclbin/src/model/bundle.hpp, which is not below it" \
  libclbin/src/base/digest.hpp '#include "model/bundle.hpp"'
t=oclcc/trust
expect_found "$t/bundle_signing.hpp includes $t/key_files.hpp includes $t/bundle_signing.hpp" \
  $t/key_files.hpp '#include "trust/bundle_signing.hpp"'
room=oclcc/attic
mkdir "$copy/$room"
expect_found "ARCHITECTURE.md does not rank '$room'" $room/old.hpp '#pragma once'
