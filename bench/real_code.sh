#!/usr/bin/env bash
# Real OpenCL code that this project did not write, from Debian's own packages: does oclcc succeed
# exactly where a bare clBuildProgram with the same options does?
#
# Usage: bench/real_code.sh BUILD_DIR >bench/results/real_code.md
# Needs: apt (to download the packages; nothing is installed), the built oclcc and bare_build.
set -euo pipefail

build=$(realpath "${1:?usage: bench/real_code.sh BUILD_DIR}")
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

darktable=root/usr/share/darktable/kernels
hashcat=root/usr/share/hashcat/OpenCL
pyopencl=root/usr/lib/python3/dist-packages/pyopencl/cl
hashcat_options="-D KERNEL_STATIC -D XM2S(x)=#x -D M2S(x)=XM2S(x) -D INCLUDE_PATH=$hashcat"
hashcat_options+=" -D LOCAL_MEM_TYPE=2 -D VENDOR_ID=64 -D CUDA_ARCH=0 -D HAS_ADD=0 -D HAS_ADDC=0"
hashcat_options+=" -D HAS_SUB=0 -D HAS_SUBC=0 -D VECT_SIZE=1 -D DEVICE_TYPE=2 -D DGST_R0=0"
hashcat_options+=" -D DGST_R1=1 -D DGST_R2=2 -D DGST_R3=3 -D DGST_ELEM=4 -D KERN_TYPE=0 -D ATTACK_EXEC=11"
hashcat_options+=" -D ATTACK_KERN=0 -D ATTACK_MODE=0"

# options_of FILE: one line, the same for both.
options_of() {
  case $1 in
    "$darktable"/*) echo "-I $darktable" ;;
    "$hashcat"/*) echo "$hashcat_options" ;;
    "$pyopencl"/*) echo "-I $pyopencl" ;;
  esac
}

files=("$darktable"/*.cl "$pyopencl"/*.cl
  "$hashcat"/m00000_a0-optimized.cl "$hashcat"/m00100_a3-pure.cl "$hashcat"/m01400_a0-pure.cl
  "$hashcat"/amp_a0.cl "$hashcat"/markov_le.cl)

mapfile -t devices < <("$oclcc" --list-devices | awk '{print $1}')
# judge DEVICE FILE: "bare oclcc seconds-bare seconds-oclcc", each verdict ok, refused or crashed.
judge() {
  local device=$1 file=$2 options words status
  options=$(options_of "$file")
  read -ra words <<<"$options"
  verdict() {
    case $1 in 0) echo ok ;; 1) echo refused ;; *) echo "failed($1)" ;; esac
  }
  status=0
  XDG_CACHE_HOME=$work/c1 POCL_CACHE_DIR=$work/p1 timeout 600 \
    "$bare" --binary "$device" "$options" "$file" >bare.log 2>&1 || status=$?
  local bare_verdict
  bare_verdict=$(verdict $status)
  status=0
  timeout 600 "$oclcc" --device "$device" "${words[@]}" "$file" -o out.clbin >oclcc.log 2>&1 ||
    status=$?
  echo "$bare_verdict $(verdict $status)"
}

echo "| file | device | bare clBuildProgram | oclcc | |"
echo "|---|---|---|---|---|"
agree=0 differ=0
for file in "${files[@]}"; do
  for device in "${devices[@]}"; do
    read -r bare_verdict oclcc_verdict < <(judge "$device" "$file")
    mark=
    if [[ $bare_verdict == "$oclcc_verdict" ]]; then
      agree=$((agree + 1))
    else
      differ=$((differ + 1))
      mark="differs: $(head -n 1 oclcc.log | cut -c -160)"
    fi
    echo "| ${file#root/usr/} | $device | $bare_verdict | $oclcc_verdict | $mark |"
  done
done
echo
echo "${#files[@]} files, ${#devices[@]} devices: $agree agree, $differ differ."
"$oclcc" --list-devices | sed 's/^/    /'
