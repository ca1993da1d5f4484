#!/usr/bin/env bash
# Compares oclcc with a bare clBuildProgram with the same options, on real OpenCL code from Debian's
# packages: oclcc must succeed exactly if the bare call does.
#
# Usage: bench/real_code.sh BUILD_DIR [HASHCAT_SAMPLE] >bench/results/real_code.md
# HASHCAT_SAMPLE: how many of hashcat's 1239 files, evenly spread over their names (default 20).
# Needs: apt (to download the packages; nothing is installed), the built oclcc and bare_build.
set -euo pipefail

build=$(realpath "${1:?usage: bench/real_code.sh BUILD_DIR [HASHCAT_SAMPLE]}")
sample=${2:-20}
oclcc=$build/oclcc/oclcc
bare=$build/bench/bare_build
export OCL_ICD_VENDORS="${OCL_ICD_VENDORS:-$build/platforms}"
export RUSTICL_ENABLE="${RUSTICL_ENABLE:-llvmpipe}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for package in darktable hashcat-data python3-pyopencl; do
  apt-get download -q "$package" >/dev/null
  dpkg -x "$package"_*.deb root
done

root=$work/root/usr
darktable=$root/share/darktable/kernels
hashcat=$root/share/hashcat/OpenCL
pyopencl=$root/lib/python3/dist-packages/pyopencl/cl
# The options that hashcat's backend.c passes.
hashcat_options="-D KERNEL_STATIC -D XM2S(x)=#x -D M2S(x)=XM2S(x) -D INCLUDE_PATH=$hashcat"
hashcat_options+=" -D LOCAL_MEM_TYPE=2 -D VENDOR_ID=64 -D CUDA_ARCH=0 -D HAS_ADD=0 -D HAS_ADDC=0"
hashcat_options+=" -D HAS_SUB=0 -D HAS_SUBC=0 -D VECT_SIZE=1 -D DEVICE_TYPE=2 -D DGST_R0=0"
hashcat_options+=" -D DGST_R1=1 -D DGST_R2=2 -D DGST_R3=3 -D DGST_ELEM=4 -D KERN_TYPE=0 -D ATTACK_EXEC=11"
hashcat_options+=" -D ATTACK_KERN=0 -D ATTACK_MODE=0"

# options_of FILE: prints one line, the same for both.
options_of() {
  case $1 in
    "$darktable"/*) echo "-I $darktable" ;;
    "$hashcat"/*) echo "$hashcat_options" ;;
    "$pyopencl"/*) echo "-I $(dirname "$1") -I $pyopencl" ;; # a bare source is in no folder
  esac
}

mapfile -t all_of_hashcat < <(printf '%s\n' "$hashcat"/[am]*.cl | sort)
mapfile -t files < <(find "$darktable" "$pyopencl" -name '*.cl' | sort)
for ((i = 0; i < sample; ++i)); do
  files+=("${all_of_hashcat[$((i * ${#all_of_hashcat[@]} / sample))]}")
done

verdict() {
  case $1 in 0) echo ok ;; 1) echo refused ;; *) echo "failed($1)" ;; esac
}

mapfile -t devices < <("$oclcc" --list-devices | awk '{print $1}')
# judge DEVICE FILE: prints the verdict of the bare program and that of oclcc.
judge() {
  local device=$1 file=$2 options words status=0 bare_verdict
  options=$(options_of "$file")
  read -ra words <<<"$options"
  rm -rf caches
  mkdir -p caches/xdg caches/pocl
  XDG_CACHE_HOME=$work/caches/xdg POCL_CACHE_DIR=$work/caches/pocl timeout 600 \
    "$bare" "$device" "$options" "$file" >bare.log 2>&1 || status=$?
  bare_verdict=$(verdict $status)
  status=0
  timeout 600 "$oclcc" --no-cache --device "$device" "${words[@]}" "$file" -o out.clbin >oclcc.log 2>&1 ||
    status=$?
  echo "$bare_verdict $(verdict $status)"
}

echo "# Real code: oclcc against a bare clBuildProgram with the same options"
echo
"$oclcc" --list-devices | sed 's/^/    /'
echo
declare -A both_ok both_refused # by package and device
agree=0
differing=()
for file in "${files[@]}"; do
  name=${file#"$root"/}
  for device in "${devices[@]}"; do
    case $file in
      "$darktable"/*) group="darktable | $device" ;;
      "$hashcat"/*) group="hashcat | $device" ;;
      *) group="pyopencl | $device" ;;
    esac
    both_ok[$group]=$((${both_ok[$group]:-0}))
    read -r bare_verdict oclcc_verdict < <(judge "$device" "$file")
    case $bare_verdict-$oclcc_verdict in
      ok-ok) both_ok[$group]=$((both_ok[$group] + 1)) agree=$((agree + 1)) ;;
      refused-refused) both_refused[$group]=$((${both_refused[$group]:-0} + 1)) agree=$((agree + 1)) ;;
      *) differing+=("| $name | $device | $bare_verdict | $oclcc_verdict | $(grep -m 1 -v '^$' oclcc.log | sed "s|$work/||g" | cut -c -160) |") ;;
    esac
  done
done
echo "| package | device | both accept | both reject |"
echo "|---|---|---|---|"
for group in "${!both_ok[@]}"; do
  echo "| $group | ${both_ok[$group]} | ${both_refused[$group]:-0} |"
done | sort
echo
echo "${#files[@]} files ($sample of hashcat's ${#all_of_hashcat[@]}), ${#devices[@]} devices: $agree agree, ${#differing[@]} differ."
if ((${#differing[@]} > 0)); then
  echo
  echo "| file | device | bare | oclcc | message |"
  echo "|---|---|---|---|---|"
  printf '%s\n' "${differing[@]}"
fi
