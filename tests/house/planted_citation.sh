#!/usr/bin/env bash
# .ci/check_citations.py reports a page and a file that do not exist, and accepts existing ones.
# Usage: planted_citation.sh ROOT
set -euo pipefail
check=$1/.ci/check_citations.py
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
fail() { echo "planted_citation: $*" >&2; exit 1; }

# In variables, because check_citations.py also reads this script.
why=why drivers=drivers
mkdir -p "$copy/doc/decisions" "$copy/oclcc"
echo "[why](decisions/$why.md), doc/decisions/$why.md" >"$copy/doc/$drivers.md"
echo "See [doc/$drivers.md](../$drivers.md)." >"$copy/doc/decisions/$why.md"
echo "// doc/$drivers.md, bench/results/*.txt" >"$copy/oclcc/sound.cpp"
git -C "$copy" init -q
git -C "$copy" add .
"$check" "$copy" || fail "sound citations are refused"

name=peers
printf '%s\n' "// $name.md" "// tests/$name.cpp" >"$copy/oclcc/planted.cpp"
git -C "$copy" add .
if output=$("$check" "$copy"); then fail "nothing is found"; fi
for planted in "planted.cpp:1: '$name.md'" "planted.cpp:2: 'tests/$name.cpp'"; do
  grep -qF "oclcc/$planted is not in this repository" <<<"$output" || fail "not found: $planted"
done
[[ $(grep -c 'is not in this' <<<"$output") == 2 ]] || fail "more than two problems: $output"
