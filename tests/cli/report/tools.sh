#!/bin/bash
# The numbers of --report are those of other tools, for every kernel of kernels/.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"

# compare TARGETS: compiles kernels/, and compares each number that another tool prints.
compare() {
  oclcc "$ROOT"/kernels/*.cl --target "$1" --no-cache -j2 -q -o k.clbin || exit
  oclcc --extract k.clbin -q -o binaries > /dev/null
  oclcc --report k.clbin --json > report.json
  python3 -B "$CLI_TESTS/report/compare.py" report.json binaries
}

### amd
needs amdgcn:gfx90a
compare "amdgcn:gfx803,gfx908,gfx90a,gfx1030" # one of each kind of register file
# expected output:
#| * kernels have the numbers of llvm-readelf
#| * kernels have the sizes of readelf

### amd_occupancy
# LLVM prints the waves that a SIMD keeps resident. It does not count whole work-groups. LLVM 15 ignored
# local memory.
clang=$(command -v clang-19) || { echo "there is no clang-19"; exit 77; }
for processor in gfx803 gfx906 gfx908 gfx90a gfx942 gfx1010 gfx1030 gfx1100 gfx1102 gfx1151 gfx1200; do
  flags=(-target amdgcn-amd-amdhsa "-mcpu=$processor")
  "$clang" "${flags[@]}" -nogpulib -x cl -cl-std=CL1.2 -O2 -S "$CLI_TESTS/report/occupancy.cl" \
    -o $processor.s || exit
  "$clang" "${flags[@]}" -c -x assembler $processor.s -o $processor.co || exit
  oclcc --report $processor.co --json > $processor.json
  python3 -B "$CLI_TESTS/report/compare_occupancy.py" $processor.json $processor.s || exit
done
# expected output:
#| 5 kernels have the occupancy of LLVM
#| 5 kernels have the occupancy of LLVM
#| 5 kernels have the occupancy of LLVM
#| 5 kernels have the occupancy of LLVM
#| 5 kernels have the occupancy of LLVM
#| 5 kernels have the occupancy of LLVM
#| 5 kernels have the occupancy of LLVM
#| 5 kernels have the occupancy of LLVM
#| 5 kernels have the occupancy of LLVM
#| 5 kernels have the occupancy of LLVM
#| 5 kernels have the occupancy of LLVM

### intel
needs intel:tgllp
compare "intel:skl,tgllp"
# expected output:
#| * kernels have the numbers of .ze_info
#| * kernels have the sizes of readelf

### nvidia
# PyPI's nvidia-cuda-cuobjdump has cuobjdump, if CUDA is not installed.
needs cubin:sm_90
command -v cuobjdump > /dev/null || { echo "there is no cuobjdump"; exit 77; }
compare "cubin:sm_75,sm_86,sm_90,sm_120"
# expected output:
#| * kernels have the numbers of cuobjdump
#| * kernels have the sizes of readelf
