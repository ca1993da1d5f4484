#!/usr/bin/env bash
# Runs every kernel on a machine with an NVIDIA GPU whose OpenCL driver is not registered. oclcc
# makes the bundles there. Also compares sgemm with cuBLAS if PyTorch is installed, and hgemm from a
# bundle that was made without a GPU. Runs a portable build that was made on another machine.
#
# Usage: bench/nvidia_products.sh PORTABLE_BUILD_DIR OUTPUT_DIR [HGEMM_BUNDLE]
# HGEMM_BUNDLE: of `oclcc kernels/hgemm.cl --target nvptx:sm_80`. Without the other measurements, if
# OUTPUT_DIR is "-".
set -euo pipefail
build=$(realpath "$1")
out=$(realpath -m "$2")
hgemm=${3:+$(realpath "$3")}
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/vendors"
echo /usr/local/nvidia/lib64/libnvidia-opencl.so.1 >"$work/vendors/nvidia.icd"
export OCL_ICD_VENDORS=$work/vendors
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-/usr/lib/x86_64-linux-gnu}
# Otherwise an entry of an earlier run would be reported as built from source.
export CUDA_CACHE_DISABLE=1

# cublas SIZE TYPE: prints the median of ten products of PyTorch, which calls cuBLAS.
cublas() {
  python3 - "$@" <<'PYTHON' || echo "cuBLAS: no PyTorch here"
import sys
import torch

torch.backends.cuda.matmul.allow_tf32 = False
n = int(sys.argv[1])
a, b = ((torch.rand(n, n, device="cuda") * 2 - 1).to(getattr(torch, sys.argv[2])) for _ in range(2))
times = []
for _ in range(13):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    a @ b
    end.record()
    torch.cuda.synchronize()
    times.append(start.elapsed_time(end))
median = sorted(times[3:])[5]
print(f"cuBLAS {sys.argv[2]} (PyTorch {torch.__version__}, no TF32) {n}: {median:.3f} ms, "
      f"{2 * n**3 / median / 1e6:.0f} GFLOPS")
PYTHON
}

# compare_hgemm: the demo's median of ten launches, then cuBLAS's, in turn, three times.
compare_hgemm() {
  for size in 4096 8192; do
    for _ in 1 2 3; do
      "$build/runtime_demo/runtime_demo" "$hgemm" --kernel hgemm --size "${size}x${size}x$size" |
        grep '^hgemm'
      cublas "$size" float16
    done
  done
}
if [[ $2 == - ]]; then
  compare_hgemm
  exit
fi

"$build/oclcc/oclcc" kernels/[!s]*.cl -o "$work/kernels.clbin"
"$build/oclcc/oclcc" kernels/sgemm.cl @runtime_demo/sgemm.options -o "$work/sgemm.clbin"
demo=("$build/runtime_demo/runtime_demo" "$work/kernels.clbin" "$work/sgemm.clbin")

"${demo[@]}" --plot "$out/h200_source_sizes.svg" >"$out/h200_source_sizes.txt"
"${demo[@]}" --size 61x67x71 >"$out/h200_prime_size.txt"
"${demo[@]}" --size 1x1x1 >"$out/h200_one_element.txt"
{
  "${demo[@]}" --device gpu --size 4096 --kernel matrixMul_global_ids --kernel matrixMul_tiled \
    --kernel mmul_block --kernel sgemm
  cublas 4096 float32
} >"$out/h200_4096.txt"
if [[ -n $hgemm ]]; then
  compare_hgemm >"$out/h100_hgemm.txt"
fi
