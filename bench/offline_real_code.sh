#!/usr/bin/env bash
# Counts how many files of real OpenCL code from Debian's packages compile for offline targets,
# among the files that a driver of this machine accepts. Lists the errors of the others.
#
# Usage: bench/offline_real_code.sh BUILD_DIR [HASHCAT_SAMPLE] >>bench/results/real_code.md
# HASHCAT_SAMPLE: how many of hashcat's files, evenly spread over their names (default 60).
# Standard error contains a line for each file and target.
# Needs: apt (to download the packages; nothing is installed), the built oclcc and bare_build.
set -euo pipefail

build=$(realpath "${1:?usage: bench/offline_real_code.sh BUILD_DIR [HASHCAT_SAMPLE]}")
sample=${2:-60}
targets=(nvptx:sm_70 amdgcn:gfx90a intel:tgllp spirv:1.2)
export OCL_ICD_VENDORS="${OCL_ICD_VENDORS:-$build/platforms}"
export RUSTICL_ENABLE="${RUSTICL_ENABLE:-llvmpipe}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for package in darktable hashcat-data python3-pyfai python3-pyopencl python3-silx; do
  apt-get download -q "$package" >/dev/null
  dpkg -x "$package"_*.deb root
done

root=$work/root/usr
hashcat=$root/share/hashcat/OpenCL
# The options that hashcat's backend.c passes.
hashcat_options="-D KERNEL_STATIC -D XM2S(x)=#x -D M2S(x)=XM2S(x) -D INCLUDE_PATH=$hashcat"
hashcat_options+=" -D LOCAL_MEM_TYPE=2 -D VENDOR_ID=64 -D CUDA_ARCH=0 -D HAS_ADD=0 -D HAS_ADDC=0"
hashcat_options+=" -D HAS_SUB=0 -D HAS_SUBC=0 -D VECT_SIZE=1 -D DEVICE_TYPE=2 -D DGST_R0=0"
hashcat_options+=" -D DGST_R1=1 -D DGST_R2=2 -D DGST_R3=3 -D DGST_ELEM=4 -D KERN_TYPE=0 -D ATTACK_EXEC=11"
hashcat_options+=" -D ATTACK_KERN=0 -D ATTACK_MODE=0"

mapfile -t all_of_hashcat < <(printf '%s\n' "$hashcat"/[am]*.cl | sort)
mapfile -t files < <(find "$root" -name '*.cl' -not -path "$hashcat/*" | sort)
for ((i = 0; i < sample; ++i)); do
  files+=("${all_of_hashcat[$((i * ${#all_of_hashcat[@]} / sample))]}")
done

export build root hashcat hashcat_options
export all_targets="${targets[*]}"
# rusticl first, because it is the fastest. One driver that accepts a file is enough.
devices=$("$build/oclcc/oclcc" --list-devices | grep -E 'rusticl|Oclgrind|Portable' | sort -k 3r | awk '{print $1}')
export devices

# judge FILE: prints "accepted FILE", then "TARGET ok" or "TARGET " and the first error for each
# target.
judge() {
  local file=$1 folder options target device words
  folder=$(mktemp -d -p .)
  mkdir "$folder/pocl"
  export XDG_CACHE_HOME=$folder POCL_CACHE_DIR=$folder/pocl
  case $file in
    "$hashcat"/*) options=$hashcat_options ;;
    */pyopencl/*) options="-I $(dirname "$file") -I $root/lib/python3/dist-packages/pyopencl/cl" ;;
    *) options="-I $(dirname "$file")" ;;
  esac
  read -ra words <<<"$options"
  for device in $devices; do
    if timeout 600 "$build/bench/bare_build" "$device" "$options" "$file" >"$folder/log" 2>&1; then
      echo "accepted ${file#"$root"/}"
      for target in $all_targets; do
        if timeout 600 "$build/oclcc/oclcc" --no-cache --target "$target" "${words[@]}" "$file" -o "$folder/out.clbin" >"$folder/log" 2>&1; then
          echo "$target ok"
        else
          # Removes the parts that differ from file to file.
          echo "$target $(grep -m 1 'error: ' "$folder/log" |
            sed -E "s/.*error: //; s/^[^:]*\.cl: //; s/'[a-z]+:[a-z0-9_.]+': //; s/^line [0-9]+: //" | cut -c -110)"
        fi
      done
      break
    fi
  done
  rm -rf "$folder"
}
export -f judge

# shellcheck disable=SC2016 # for the other bash
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'judge "$0"' | tee /dev/stderr >verdicts

accepted=$(grep -c '^accepted ' verdicts)
echo
echo "## Offline targets"
echo
echo "Of ${#files[@]} files ($sample of hashcat's ${#all_of_hashcat[@]}; darktable, pyFAI, pyopencl, silx), a driver here accepts $accepted."
echo
echo "| target | compile | share |"
echo "|---|---|---|"
for target in "${targets[@]}"; do
  count=$(grep -c -x "$target ok" verdicts || true)
  echo "| $target | $count | $(awk "BEGIN { printf \"%.1f %%\", 100 * $count / $accepted }") |"
done
if grep -v -E '^accepted | ok$' verdicts >errors; then
  echo
  echo "| files | target | first error |"
  echo "|---|---|---|"
  sort errors | uniq -c | sort -rn | sed -E 's/^ *([0-9]+) ([^ ]+) (.*)$/| \1 | \2 | \3 |/'
fi
