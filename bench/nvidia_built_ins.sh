#!/usr/bin/env bash
# Compares the built-in functions of oclcc's PTX with exact results on a machine with an NVIDIA GPU,
# whose OpenCL driver need not be registered. The first command runs on a machine with clang, and
# makes a folder for the other machine, of some 30 MB. The second runs there, prints every mismatch,
# and fails if there is one.
#
# Usage: bench/nvidia_built_ins.sh prepare OCLCC PORTABLE_BUILD_DIR FOLDER
#        bench/nvidia_built_ins.sh run FOLDER OUTPUT_DIR
set -euo pipefail
cd "$(dirname "$0")/.."

prepare() {
  local oclcc=$1 build=$2 folder=$3
  mkdir -p "$folder"
  cp "$build/bench/nvidia_built_ins" "$folder"
  strip "$folder/nvidia_built_ins"
  python3 tests/cli/offline/built_in_table.py write "$folder"
  compile "$oclcc" "$folder" sm_80
  # Those of extensions, also by the code for older devices.
  python3 tests/cli/offline/extension_table.py write "$folder/extensions"
  compile "$oclcc" "$folder/extensions" sm_80 sm_70 sm_60 \
    "-cl-ext=$(python3 tests/cli/offline/extension_functions.py names)"
}

# compile OCLCC FOLDER ARCHITECTURE... [OPTION]
compile() {
  local oclcc=$1 folder=$2 clang architecture options=()
  shift 2
  [[ ${*: -1} != -* ]] || { options=("${@: -1}") && set -- "${@:1:$#-1}"; }
  for clang in ${CLANGS:-clang-15 clang-19 clang-22}; do
    if ! command -v "$clang" >/dev/null; then
      continue
    fi
    for architecture in "$@"; do
      "$oclcc" "$folder"/*.cl bench/nvidia_images.cl --target "nvptx:$architecture" -j1 \
        --timeout 600 --tool "clang=$(command -v "$clang")" "${options[@]}" \
        -o "$folder/$clang-$architecture.clbin"
    done
  done
}

run() {
  local folder=$1 out=$2 bundle
  work=$(mktemp -d) # not local: the trap reads it
  trap 'rm -rf "$work"' EXIT
  mkdir "$work/vendors"
  echo /usr/local/nvidia/lib64/libnvidia-opencl.so.1 >"$work/vendors/nvidia.icd"
  export OCL_ICD_VENDORS=${OCL_ICD_VENDORS:-$work/vendors}
  export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-/usr/lib/x86_64-linux-gnu}
  export CUDA_CACHE_DISABLE=1
  for bundle in "$folder"/{,extensions/}*.clbin; do
    echo "== ${bundle#"$folder"/}"
    "$folder/nvidia_built_ins" "${PLATFORM:-NVIDIA}" "$bundle" "$(dirname "$bundle")" || true
  done 2>&1 | tee "$out/nvidia_built_ins.txt"
  grep -q ' functions, ' "$out/nvidia_built_ins.txt"
  ! grep -E ' functions, ' "$out/nvidia_built_ins.txt" | grep -qv ' functions, 0 wrong'
}

"$@"
