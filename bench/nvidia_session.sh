#!/usr/bin/env bash
# The main measurements on a machine with an NVIDIA GPU whose OpenCL driver is not registered. Runs
# a portable build that was made on another machine, and installs nothing.
#
# If ptxas (of CUDA) is installed, also measures cubins with bench/first_launch.py.
#
# Usage: bench/nvidia_session.sh PORTABLE_BUILD_DIR OUTPUT_DIR
set -uo pipefail
cd "$(dirname "$0")/.." || exit
build=$(realpath "$1")
out=$(realpath "$2")

work=$(mktemp -d)
mkdir "$work/vendors"
echo /usr/local/nvidia/lib64/libnvidia-opencl.so.1 >"$work/vendors/nvidia.icd"
export OCL_ICD_VENDORS=$work/vendors
export LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu
export PATH=$PATH:/usr/local/cuda/bin # ptxas
oclcc=$build/oclcc/oclcc
demo=$build/runtime_demo/runtime_demo
failed=0

programs=(kernels/{cuda_ports,elementwise,matmul,matmul_column_major,matmul_steps,transpose}.cl)

# say TITLE COMMAND...: writes the command, its output and its exit status to the log. A status
# other than 0 is a failure.
say() {
  local title=$1
  shift
  printf '\n== %s\n$ %s\n' "$title" "${*//$build\//}"
  "$@"
  local status=$?
  echo "(exit $status)"
  [[ $status -eq 0 ]] || failed=1
}

{
  say "devices" "$oclcc" --list-devices -v
  say "every kernel into a bundle" "$oclcc" --no-cache "${programs[@]}" -o "$work/kernels.clbin"
  say "what is inside" "$oclcc" --info -v "$work/kernels.clbin"
  say "twice the same bytes" bash -c "mkdir -p $work/elsewhere && \
    $oclcc --no-cache ${programs[*]} -j1 -o $work/elsewhere/kernels.clbin && \
    cmp $work/kernels.clbin $work/elsewhere/kernels.clbin && echo identical"
  say "cubins beside the PTX" "$oclcc" "${programs[@]}" --emit-cubin -o "$work/cubins.clbin"
  say "both of them inside" bash -c "$oclcc --info -v $work/cubins.clbin | grep -E '^  entry' | sort | uniq -c"
  say "the demo from cubins" "$demo" "$work/cubins.clbin"
  say "source, PTX and cubin in fresh processes" bash -o pipefail -c \
    "python3 bench/first_launch.py $build --platform NVIDIA --rounds 11 | tee $out/first_launch.md"
  say "own time of a load" "$build/bench/load_overhead"
  # Would show a second start of the driver, which takes about as long as listing the devices.
  name=$("$oclcc" --list-devices --json | python3 -c \
    'import json, sys; print(json.load(sys.stdin)["devices"][0]["device_name"])')
  printf 'CL_DEVICE_ADDRESS_BITS=64\nCL_DEVICE_NAME="%s"\n' "$name" >"$work/device_info"
  TIMEFORMAT='%R s'
  time say "time of listing the devices" bash -c "$oclcc --list-devices >/dev/null"
  time say "time of one compile" "$oclcc" --no-cache kernels/transpose.cl -o "$work/t.clbin"
  time say "time of one compile by cl_offline_compiler" env PATH="$build/oclcc:$PATH" \
    oclcc/command_line/cl_offline_compiler --source kernels/transpose.cl --output "$work/t.bin" \
    --cl-device-info "$work/device_info" --mode binary --
  say "raw PTX" bash -c "$oclcc kernels/matmul.cl -o $work/matmul.ptx && head -c 400 $work/matmul.ptx"
  printf '__kernel void k(__global float* x) {\n  x[0] = 1.0f;\n  x[1] = foo;\n}\n' >"$work/bad.cl"
  say "a kernel that does not compile: exit 1, the user's path, no output" \
    bash -c "$oclcc $work/bad.cl -o $work/bad.clbin; [[ \$? == 1 && ! -e $work/bad.clbin ]]"
  say "the command line as users see it: places of diagnostics, includes, options" \
    python3 tests/cli/run_cli_tests.py --oclcc "$oclcc" --make-bundle "$build/tests/cli/make_bundle" \
    --platforms "$work/vendors" tests/cli/{compile/*,devices,diagnostics}.sh
  say "the variants of sgemm" "$oclcc" kernels/sgemm.cl @runtime_demo/sgemm.options -o "$work/sgemm.clbin"
  say "the demo from the bundles" \
    "$demo" "$work/kernels.clbin" "$work/sgemm.clbin" --plot "$out/nvidia.svg"
  say "the demo from source" "$demo" "$work/kernels.clbin" "$work/sgemm.clbin" --from-source
  say "the register-blocked product at 4096" "$demo" "$work/kernels.clbin" "$work/sgemm.clbin" \
    --kernel sgemm --kernel matrixMul_global_ids --size 4096x4096x4096
} >"$out/nvidia.txt" 2>&1
rm -rf "$work"
exit $failed
