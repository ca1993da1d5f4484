#!/usr/bin/env bash
# Compiles every program of kernels/ for every listed target, with each tool set that is installed.
# A tool set is a release of clang with its lld and llvm-spirv, the same with a ptxas (for cubins), or
# ocloc. Compiles the same bundle in two directories, whose names have different lengths, with -j4
# and with -j1, and compares the bytes. Prints tables: what was compiled, what was refused and why,
# targets that no tool set has, and the versions of the tools.
#
# Usage: bench/every_target.sh OCLCC, whose output is a part of bench/results/every_target.txt
# TARGETS (a regular expression of grep -E) and PROGRAMS ("hgemm sgemm") choose a part.
# RELEASES: the releases of clang (default: "15 17 18 19 22"). PTXAS: paths of ptxas (default: those
# in PATH). JOBS: how many bundles are compiled at a time (default: one for each processor). KEEP: a
# directory that receives oclcc's messages, and the bundles that differ.
set -euo pipefail

oclcc=$(realpath "${1:?usage: bench/every_target.sh OCLCC}")
kernels=$(realpath "$(dirname "$0")/../kernels")
read -ra releases <<<"${RELEASES:-15 17 18 19 22}"
read -ra ptxas <<<"${PTXAS:-$(type -aP ptxas | tr '\n' ' ')}"
targets_in_bundle=6
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OCL_ICD_VENDORS=/nonexistent oclcc work
one=$work/one two=$work/two_with_a_longer_name
export one two
mkdir "$one" "$two" "$work/sets"
for folder in "$one" "$two"; do
  cp "$kernels"/*.cl* "$folder"
done
cd "$one"
programs=$(echo *.cl)
[[ -z ${PROGRAMS:-} ]] || programs=${PROGRAMS// /.cl }.cl
export programs

# A directory of links, which is the PATH of oclcc, makes it choose the tools of one set.
link() { # SET NAME…
  local name path
  mkdir -p "$work/sets/$1"
  for name in "${@:2}"; do
    path=$(command -v "$name") && ln -sf "$path" "$work/sets/$1/$(basename "$name")"
  done || true
}
for release in "${releases[@]}"; do
  command -v "clang-$release" >/dev/null || continue
  link "clang-$release" "clang-$release" "ld.lld-$release" "llvm-spirv-$release" spirv-val
  for path in "${ptxas[@]}"; do
    [[ -x $path ]] || continue
    version=$("$path" --version | sed -n 's/.* release \([0-9.]*\),.*/\1/p')
    link "clang-$release, ptxas $version" "clang-$release" "$path"
  done
done
! command -v ocloc >/dev/null || link ocloc ocloc

list() { # SET: the targets that the set has
  PATH=$work/sets/$1 "$oclcc" --list-targets | sed 's/ *$//' | grep -xE '[a-z]+:[^ ]+' |
    grep -E "${TARGETS:-.}" || true
}
# Prints lines "SET FAMILY TARGET…", with a line for each bundle.
for set in "$work"/sets/*; do
  set=${set##*/}
  list "$set" | case $set in
    *ptxas*) grep '^cubin:' ;;
    *) grep -v '^cubin:' ;;
  esac | awk -F : -v set="$set" -v limit="$targets_in_bundle" '
    $1 != family || count == limit {
      if (family) print line
      family = $1; count = 0; line = set "\t" family "\t"
    }
    { line = line $0 " "; ++count }
    END { if (family) print line }' || true
done >"$work/bundles"

# Prints "SET FAMILY targets units compiled equal", and keeps the errors.
compile_twice() { # NUMBER SET FAMILY TARGETS
  local number=$1 set=$2 family=$3 words=() count=0 target equal=yes compiled units
  for target in $4; do
    words+=(--target "$target")
    count=$((count + 1))
  done
  compile() { # FOLDER JOBS
    # shellcheck disable=SC2086 # several programs
    (cd "$1" && PATH=$work/sets/$set "$oclcc" $programs "${words[@]}" --no-cache --keep-going \
      -j"$2" -o "$number.clbin" >"$number.log" 2>&1) || true
  }
  compile "$one" 4
  compile "$two" 1
  if ! cmp -s "$one/$number.clbin" "$two/$number.clbin"; then
    equal=no
    [[ -z ${KEEP:-} ]] || cp "$one/$number.clbin" "$KEEP/$number.one.clbin"
    [[ -z ${KEEP:-} ]] || cp "$two/$number.clbin" "$KEEP/$number.two.clbin"
  fi
  compiled=$("$oclcc" --info -v "$one/$number.clbin" | grep -c '^  entry' || true)
  units=$(($(wc -w <<<"$programs") * count))
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$set" "$family" "$count" "$units" "$compiled" "$equal"
  grep -hE '(^|: )error: ' "$one/$number.log" |
    sed -E "s/^oclcc: error: //; s/'[a-z]+:[^']*': //; s/ \[on [^]]*\]$//; s/^/$family: /" \
      >"$one/$number.errors" || true
  # Each bundle of a set records the same versions.
  "$oclcc" --info --json "$one/$number.clbin" | tr -d ' ",' |
    sed -nE '/^tools:/,/^\}/ s/^([a-z-]+):([0-9].*)/\1 \2/p' | sort -u >"$one/$number.tools" || true
}
export -f compile_twice
start=$SECONDS
awk -F '\t' '{ printf "%d%c%s%c%s%c%s%c", NR, 0, $1, 0, $2, 0, $3, 0 }' "$work/bundles" |
  xargs -0 -n 4 -P "${JOBS:-$(nproc)}" bash -c 'compile_twice "$@"' _ >"$work/results"

echo "$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release), $("$oclcc" --version | sed -n 's/^oclcc /oclcc /p; s/^revision /revision /p' | tr '\n' ' ')"
echo "$(date -u +%Y-%m-%d), $(nproc) processors, $((SECONDS - start)) s, programs: $programs"
echo "$(PATH=/nonexistent "$oclcc" --list-targets | grep -c ' requires ') targets are listed"
echo
echo "| tool set | family | targets | units | compiled | refused | equal bytes |"
echo "|---|---|---|---|---|---|---|"
sort "$work/results" | awk -F '\t' '
  function row() { printf "| %s | %s | %d | %d | %d | %d | %s |\n", name, family, targets, units, compiled, units - compiled, equal }
  $1 != name || $2 != family { if (name) row(); name = $1; family = $2; targets = units = compiled = 0; equal = "yes" }
  { targets += $3; units += $4; compiled += $5; if ($6 != "yes") equal = "no" }
  END { row() }'
echo
echo "Refused, by the errors:"
cat "$one"/*.errors | sort | uniq -c
echo
echo "Targets that no tool set here has:"
for set in "$work"/sets/*; do
  list "${set##*/}"
done | sort -u >"$work/usable"
PATH=/nonexistent "$oclcc" --list-targets | awk '/ requires / { print $1 }' | grep -E "${TARGETS:-.}" |
  grep -vxFf "$work/usable" | tr '\n' ' ' || true
echo
echo
echo "Versions:"
sort -u "$one"/*.tools
[[ -z ${KEEP:-} ]] || cp "$one"/*.log "$KEEP"
! grep -q "no$" "$work/results"
