#!/bin/bash
# Short tests of offline targets, with real tools.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"

### built_ins
# Every function of OpenCL C 1.2, and each atomic function of 3.0, is resolved for NVIDIA's devices.
# Compiles every 40th of some 9,900 kernels. bench/results/nvptx_built_ins.md has the results for all.
needs nvptx:sm_50
python3 "$CLI_TESTS/offline/nvptx_built_ins.py" --sample 40 \
  oclcc '{source}' --target nvptx:sm_50 --no-cache -w -o '{output}' > log || cat log

### library
# Every function that clang declares is defined, also those of extensions.
needs nvptx:sm_50
python3 "$CLI_TESTS/offline/library_functions.py" "$clang"

### built_in_results
# The functions that oclcc links for NVIDIA's devices compute exact results. They run on this machine.
needs nvptx:sm_80
python3 "$CLI_TESTS/offline/built_in_table.py" cpu --clang "$clang" --widths 1,3 > log || cat log

### async_copies
# From sm_80 on, copies to local memory are asynchronous, where elements or addresses have 4 bytes.
needs nvptx:sm_80
cat > k.cl <<'END'
kernel void floats(global const float* a, global float* b, local float* near, uint n) {
  event_t event = async_work_group_copy(near, a, n, 0);
  wait_group_events(1, &event);
  b[get_global_id(0)] = near[get_local_id(0)];
}
kernel void chars(global const char* a, global char* b, local char* near, uint n) {
  event_t event = async_work_group_copy(near, a, n, 0);
  wait_group_events(1, &event);
  b[get_global_id(0)] = near[get_local_id(0)];
}
kernel void strided(global const double3* a, global double3* b, local double3* near, uint n) {
  event_t event = async_work_group_strided_copy(near, a, n, 3, 0);
  wait_group_events(1, &event);
  b[get_global_id(0)] = near[get_local_id(0)];
}
kernel void back(global int* a, local int* near, uint n) {
  event_t event = async_work_group_copy(a, near, n, 0);
  wait_group_events(1, &event);
}
END
oclcc k.cl --target nvptx:sm_80 -o sm_80.ptx
oclcc k.cl --target nvptx:sm_75 -o sm_75.ptx
# The instructions of each kernel, in their order.
awk '/[.]entry/ { printf "%s", $2 } /cp.async|bar.sync|ld.global.u8/ { printf " %s", $1 } /^}/ { print "" }' \
  sm_80.ptx
! grep cp.async sm_75.ptx
# expected output:
#| floats( cp.async.ca.shared.global cp.async.wait_all; bar.sync
#| chars( ld.global.u8 cp.async.ca.shared.global cp.async.wait_all; bar.sync
#| strided( cp.async.cg.shared.global cp.async.cg.shared.global cp.async.wait_all; bar.sync
#| back( cp.async.wait_all; bar.sync

### extension_functions
# Every function of the extensions that can be requested for NVIDIA's devices is resolved. Compiles every
# 20th of some 3,400 kernels.
needs nvptx:sm_53
python3 "$CLI_TESTS/offline/extension_functions.py" --sample 20 "$clang" \
  oclcc '{source}' --target nvptx:sm_53 --no-cache -w -o '{output}' > log || cat log

### extension_results
# They compute exact results, or results within the specification's bounds. They run on this machine.
needs nvptx:sm_80
python3 "$CLI_TESTS/offline/extension_table.py" cpu --clang "$clang" --widths 1,3 > log || cat log

### cache
# The second run starts no tool. Another tool or other options make other units.
needs nvptx:sm_70
echo 'kernel void k(global int* a) { *a = X; }' > k.cl
for tool in one two; do
  printf '#!/bin/sh\necho >> "%s/starts"\nexec "%s" "$@" # %s\n' "$PWD" "$clang" "$tool" > "$tool"
  chmod +x "$tool"
done
count() { wc -l < starts; }
oclcc k.cl -DX=1 --target nvptx:sm_70 --tool clang=one -o first.clbin
first=$(count)
[ "$first" -gt 0 ] && echo "compiled"
rm first.clbin
oclcc k.cl -DX=1 --target nvptx:sm_70 --tool clang=one -o first.clbin
[ "$(count)" -eq "$first" ] && echo "not compiled again"
oclcc k.cl -DX=2 --target nvptx:sm_70 --tool clang=one -o first.clbin
second=$(count)
[ "$second" -gt "$first" ] && echo "compiled with other options"
oclcc k.cl -DX=1 --target nvptx:sm_70 --tool clang=two -o second.clbin
[ "$(count)" -gt "$second" ] && echo "compiled with another tool"
oclcc --info -v first.clbin --json > /dev/null && oclcc -v k.cl -DX=1 --target nvptx:sm_70 --tool clang=one 2>&1 | grep -o 'compile cache: .*'
# expected output:
#| compiled
#| not compiled again
#| compiled with other options
#| compiled with another tool
#| compile cache: hit

### matrix_units
# The types of clbin/matrix.clh use the units that each architecture has, in the lowest version of PTX.
needs nvptx:sm_80
needs amdgcn:gfx90a
for target in nvptx:sm_50 nvptx:sm_70 nvptx:sm_75 nvptx:sm_80; do
  oclcc "$ROOT/tests/applications/matrix_products.cl" --target $target -q -o k.ptx
  { echo $target; grep '^.version' k.ptx; grep -o 'mma.sync.aligned.[a-z0-9]*' k.ptx | sort -u; } | paste -sd ' '
done
oclcc "$ROOT/tests/applications/matrix_products.cl" --target amdgcn:gfx90a -q -o k.clbin
oclcc --disassemble k.clbin > k.s || exit 77 # there is no llvm-objdump
grep -o 'v_mfma_[a-z0-9_]*' k.s | sort -u | wc -l
# expected output:
#| nvptx:sm_50 .version 6.0
#| nvptx:sm_70 .version 6.5 mma.sync.aligned.m8n8k4
#| nvptx:sm_75 .version 6.5 mma.sync.aligned.m16n8k8 mma.sync.aligned.m8n8k16
#| nvptx:sm_80 .version 7.0 mma.sync.aligned.m16n8k16 mma.sync.aligned.m16n8k32 mma.sync.aligned.m16n8k8 mma.sync.aligned.m8n8k4
#| 5

### cubins
# A cubin needs no driver. The bundle does not contain the PTX that the cubin is made from.
needs cubin:sm_80
needs cubin:sm_90
oclcc "$ROOT"/kernels/*.cl --target cubin:sm_80,sm_90 --no-cache -j1 -o one.clbin || exit
oclcc "$ROOT"/kernels/*.cl --target cubin:sm_90 --target cubin:sm_80 --no-cache -j2 -o two.clbin || exit
cmp one.clbin two.clbin
programs=$(oclcc --info -v one.clbin | grep -c '^program')
[ "$(oclcc --info -v one.clbin | grep -c '^  entry     cubin sm_80')" -eq "$programs" ] || oclcc --info -v one.clbin
[ "$(oclcc --info -v one.clbin | grep -c '^  entry     cubin sm_90')" -eq "$programs" ] || oclcc --info -v one.clbin
[ "$(oclcc --info -v one.clbin | grep -c '^  entry')" -eq $((programs * 2)) ] || oclcc --info -v one.clbin
oclcc --list-targets | sed -n 's/^cubin:all = //p' | tr ' ' '\n' > all
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl --target cubin:all --no-cache -o all.clbin && oclcc --info -v all.clbin | sed -n 's/^    target    //p' | sort | cmp - <(sort all)
oclcc k.cl --target cubin:sm_120 -o k.cubin # higher than any that clang knows
file -b k.cubin | grep -o 'ELF 64-bit.*CUDA'
# expected output:
#| ELF 64-bit*CUDA*

### diagnostics
# Messages of clang name the user's files and lines. A message that every target prints is shown
# once.
needs nvptx:sm_70
needs spirv:1.2
mkdir include
printf '\n#define TWICE(x) ((x) + (y))\n' > include/twice.h
cat > k.cl <<'END'
#include <twice.h>
kernel void k(global int* a) {
  int unused_result;
  *a = TWICE(*a);
}
END
oclcc -I include k.cl --target nvptx:sm_70 --target spirv:1.2; echo "exit $?"
ls
# expected output:
#| exit 1
#| include
#| k.cl
# expected errors:
#| k.cl:4:8: error: use of undeclared identifier 'y'
#|     4 |   *a = TWICE(*a);
#|       |        ^
#| include/twice.h:2:26: note: expanded from macro 'TWICE'
#|     2 | #define TWICE(x) ((x) + (y))
#|       |                          ^

### dimensions_and_printf
# Work-item functions answer for a dimension that does not exist, and programs may call
# __builtin_printf.
for target in nvptx:sm_70 amdgcn:gfx906 spirv:1.2; do
  needs $target
done
cat > k.cl <<'END'
kernel void k(global uint* o) {
  o[0] = get_global_size(3) + get_local_size(3) + get_num_groups(4);
  o[1] = get_global_id(3) + get_local_id(3) + get_group_id(4) + get_global_offset(3);
  __builtin_printf("%u\n", o[0]);
}
END
oclcc k.cl --target nvptx:sm_70 --target amdgcn:gfx906 --target spirv:1.2 -o k.clbin && oclcc --info -v k.clbin | grep -c '^    target'
# expected output:
#| 3

### extensions
# The macros of extensions and features of each target are true: what they announce compiles.
for target in nvptx:sm_70 amdgcn:gfx906 spirv:1.2 spirv:1.4; do
  needs $target
done
python3 "$CLI_TESTS/offline/extensions.py" {nvptx:sm_70,amdgcn:gfx906,spirv:1.2,spirv:1.4}="$clang"
# NVIDIA's driver accepts `asm`, too.
echo 'kernel void k(global uint* o) { uint x; asm volatile("mov.u32 %0, 7;" : "=r"(x)); *o = x; }' > assembly.cl
oclcc assembly.cl --target nvptx:sm_70 -o assembly.ptx && grep -q 'mov.u32 .*, 7;' assembly.ptx && echo "assembly"
# A program that tests a macro takes the branch that compiles.
cat > branch.cl <<'END'
kernel void k(global uint* o, uint a) {
#ifdef cl_amd_media_ops
  *o = amd_bitalign(a, a, 7u);
#elif defined(cl_intel_subgroups)
  *o = intel_sub_group_shuffle(a, 1);
#else
  *o = rotate(a, 25u);
#endif
}
END
oclcc branch.cl --target amdgcn:gfx906 --target nvptx:sm_70 --target spirv:1.2 -o branch.clbin && oclcc --info -v branch.clbin | grep -c '^    target'
# expected output:
#| assembly
#| 3

### halide
# What Halide 21.0.0 (MIT licence) generates for a blur of three pixels and passes to clBuildProgram, as
# recorded with PoCL: its options have blanks.
needs nvptx:sm_70
needs amdgcn:gfx90a
needs spirv:1.2
options="-D MAX_CONSTANT_BUFFER_SIZE=524288 -D MAX_CONSTANT_ARGS=8"
make_bundle recording "$CLI_TESTS/offline/halide.cl" blur default "$options" _kernel_blur_s0_y_yo_block_id_y cpu-a \
  '_kernel_blur_s0_y_yo_block_id_y 2 16 8 1' halide.clbin
oclcc halide.clbin --target nvptx:sm_70 --target amdgcn:gfx90a --target spirv:1.2 -o new.clbin; echo "exit $?"
oclcc --info -v new.clbin | grep -E '^  (options|entry|launched)|^    kernel'
# expected output:
#| exit 0
#|   options   -D MAX_CONSTANT_BUFFER_SIZE=524288 -D MAX_CONSTANT_ARGS=8
#|   launched  _kernel_blur_s0_y_yo_block_id_y: 16x8
#|   entry     PTX 6.0 for sm_70
#|     kernel    _at_least_one_kernel(int x)
#|     kernel    _kernel_blur_s0_y_yo_block_id_y(global uchar* restrict _blur, global const uchar* restrict _p0, int _blur_extent_1, int _blur_min_1, int _blur_stride_1, int _p0_stride_1, int _t22, int _t23, int _t24, int _t25, int _t26, local int16* __shared)
#|   entry     AMD code object gfx90a
#|     kernel    _at_least_one_kernel(int x)
#|     kernel    _kernel_blur_s0_y_yo_block_id_y(global uchar* restrict _blur, global const uchar* restrict _p0, int _blur_extent_1, int _blur_min_1, int _blur_stride_1, int _p0_stride_1, int _t22, int _t23, int _t24, int _t25, int _t26, local int16* __shared)
#|   entry     SPIR-V 1.0
#|     kernel    _at_least_one_kernel(int x)
#|     kernel    _kernel_blur_s0_y_yo_block_id_y(global uchar* restrict _blur, global const uchar* restrict _p0, int _blur_extent_1, int _blur_min_1, int _blur_stride_1, int _p0_stride_1, int _t22, int _t23, int _t24, int _t25, int _t26, local int16* __shared)

### large_arguments
# Arguments of more than 4,352 bytes need PTX 8.1 and sm_70. Other PTX keeps its version.
needs nvptx:sm_50
cat > k.cl <<'END'
struct large { int a[N]; };
kernel void k(global int* p, struct large s, int i) { p[0] = s.a[i]; }
END
for target in sm_50 sm_70 sm_120 sm_90; do
  for n in 1085 1086 8187; do # 4,352, 4,356, and 32,760 bytes
    oclcc k.cl -DN=$n --target nvptx:$target -o k.ptx && grep -E '^.(version|target)' k.ptx | tr '\n' ' ' && echo
  done
done
ptxas=$(PATH=$PATH:/usr/local/cuda/bin command -v ptxas) && { "$ptxas" -arch=sm_90 k.ptx -o k.cubin || echo "not assembled"; }
oclcc k.cl -DN=8189 --target nvptx:sm_90 -o k.ptx; echo "exit $?"
# expected output:
#| .version 6.0 .target sm_50, texmode_independent*
#| .version 6.0 .target sm_70, texmode_independent*
#| .version 8.1 .target sm_70, texmode_independent*
#| .version 8.1 .target sm_70, texmode_independent*
#| .version 8.7 .target sm_120, texmode_independent*
#| .version 8.7 .target sm_120, texmode_independent*
#| .version 8.7 .target sm_120, texmode_independent*
#| .version 7.8 .target sm_90, texmode_independent*
#| .version 8.1 .target sm_90, texmode_independent*
#| .version 8.1 .target sm_90, texmode_independent*
#| exit 1
# expected errors:
#| oclcc: error: k.cl: 'nvptx:sm_50': the arguments of the kernel 'k' have 4356 bytes, and sm_50 takes 4352 at most
#| oclcc: error: k.cl: 'nvptx:sm_50': the arguments of the kernel 'k' have 32760 bytes, and sm_50 takes 4352 at most
#| oclcc: error: k.cl: 'nvptx:sm_90': the arguments of the kernel 'k' have 32768 bytes, and sm_90 takes 32764 at most

### local_memory
# The local variables of a kernel have 49,152 bytes at most, which ptxas checks for every architecture.
needs nvptx:sm_80
cat > k.cl <<'END'
kernel void k(global int* p, int i) {
  local int a[N];
  a[get_local_id(0)] = i;
  barrier(CLK_LOCAL_MEM_FENCE);
  p[get_global_id(0)] = a[i];
}
END
oclcc k.cl -DN=12288 --target nvptx:sm_80 -o k.ptx; echo "exit $?"
ptxas=$(PATH=$PATH:/usr/local/cuda/bin command -v ptxas) && { "$ptxas" -arch=sm_80 k.ptx -o k.cubin || echo "not assembled"; }
oclcc k.cl -DN=12289 --target nvptx:sm_80 -o k.ptx; echo "exit $?"
# expected output:
#| exit 0
#| exit 1
# expected errors:
#| oclcc: error: k.cl: 'nvptx:sm_80': the local variables of the kernel 'k' have 49156 bytes, and NVIDIA's compiler takes 49152 at most

### spirv_repairs
# llvm-spirv 15 crashes over fences whose flags are not constant, and over samplers that kernels pass to
# functions. It writes an invalid filter for samplers without one.
needs spirv:1.2
cat > fence.cl <<'END'
void wait(int flags) { barrier(flags); }
kernel void k(global int* p, int i) {
  p[i] = i;
  wait(CLK_GLOBAL_MEM_FENCE);
  mem_fence(i ? CLK_LOCAL_MEM_FENCE : CLK_GLOBAL_MEM_FENCE);
  p[0] = p[i + 1];
}
END
oclcc fence.cl --target spirv:1.2 -o fence.spv; echo "exit $?"
cat > sampler.cl <<'END'
constant sampler_t outside = CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
float4 once(read_only image2d_t i, sampler_t s) { return read_imagef(i, s, (float2)(0, 0)); }
float4 twice(read_only image2d_t i, sampler_t s) { return once(i, s) + once(i, s); }
kernel void k(global float4* p, read_only image2d_t i, sampler_t s) {
  sampler_t without_filter = CLK_ADDRESS_CLAMP;
  *p = twice(i, s) + twice(i, outside) + once(i, without_filter);
}
END
oclcc -w sampler.cl --target spirv:1.2 -o sampler.spv; echo "exit $?"
# expected output:
#| exit 0
#| exit 0

### ptx_of_new_devices
# The PTX for devices that clang does not know has the lowest version that has them. ptxas accepts it.
needs nvptx:sm_50
echo 'kernel void k(global float* a) { a[get_global_id(0)] = sin(a[get_global_id(0)]); }' > k.cl
oclcc --list-targets > targets
for target in sm_100 sm_103 sm_110 sm_120 sm_121; do
  oclcc k.cl --target nvptx:$target -o k.ptx && grep -E '^.(version|target)' k.ptx | tr '\n' ' ' && echo
  ! grep -q -x cubin:$target targets || PATH=$PATH:/usr/local/cuda/bin ptxas -arch=$target k.ptx -o k.cubin
done
# expected output:
#| .version 8.6 .target sm_100, texmode_independent*
#| .version 8.8 .target sm_103, texmode_independent*
#| .version 9.0 .target sm_110, texmode_independent*
#| .version 8.7 .target sm_120, texmode_independent*
#| .version 8.8 .target sm_121, texmode_independent*

### nvidia_answers
# The recorded facts of kernels are the same as NVIDIA's driver 580.159.04 reported for the same
# source on an H200 (nvidia_answers.json).
needs nvptx:sm_70
oclcc "$CLI_TESTS/offline/nvidia_answers.cl" --target nvptx:sm_70 -o k.clbin || exit
oclcc --info --json k.clbin > k.json
python3 - "$CLI_TESTS/offline/nvidia_answers.json" <<'END'
import json, sys

with open(sys.argv[1], encoding="utf-8") as file:
    answers = json.load(file)
with open("k.json", encoding="utf-8") as file:
    [bundle] = json.load(file)["bundles"]
[entry] = bundle["groups"][0]["entries"]
for kernel in entry["kernels"]:
    for name, answer in answers.pop(kernel["name"]).items():
        if kernel[name] != answer:
            print(f"{kernel['name']}: {name} is {kernel[name]}, the driver answers {answer}")
print("not compiled:", sorted(answers))
END
# expected output:
#| not compiled: []

### preview
# The commands that -### prints make the same bundle as one run.
needs nvptx:sm_70
needs spirv:1.2
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
words=(k.cl --target nvptx:sm_70 --target "spirv:1.2,1.2:32")
oclcc '-###' "${words[@]}" -o k.clbin 2> commands
ls
tail -n +2 commands > run.sh
sh -e run.sh && mv k.clbin by_commands.clbin
oclcc "${words[@]}" -o k.clbin && cmp k.clbin by_commands.clbin && echo "the same bytes"
ln -s "$(command -v clang-15 || command -v clang-19)" 'c lang'
oclcc '-###' "${words[@]}" --tool 'clang=./c lang' -o t.clbin 2>&1 | grep -c -- "--tool 'clang=.*c lang'"
rm 'c lang'
# Each unit of an encrypted bundle is encrypted, and only the last command encrypts for recipients.
cp k.cl l.cl
oclcc --keygen c --key-type content
oclcc --keygen r --key-type recipient
oclcc '-###' k.cl l.cl --target spirv:1.2 --encrypt-key c.key --encrypt-for r.pub -o x.clbin 2>&1 | tail -n +2
oclcc '-###' k.cl --target spirv:1.2 --encrypt-for r.pub -o x.clbin 2>&1 | tail -n +2
# expected output:
#| commands
#| k.cl
#| the same bytes
#| 3
#|  oclcc --target spirv:1.2 --encrypt-key c.key --no-cache --program k=k.cl -o x.k.default.spirv-1.2.clbin
#|  oclcc --target spirv:1.2 --encrypt-key c.key --no-cache --program l=l.cl -o x.l.default.spirv-1.2.clbin
#|  oclcc --merge x.k.default.spirv-1.2.clbin x.l.default.spirv-1.2.clbin --decrypt-key c.key -o x.merged.clbin
#|  oclcc --repack x.merged.clbin --decrypt-key c.key --encrypt-key c.key --encrypt-for r.pub -o x.clbin
#|  oclcc --target spirv:1.2 --no-cache --program k=k.cl -o x.clbin --encrypt-for r.pub

### raw
# The suffix of -o must match the format of the target. Otherwise the error names both.
needs nvptx:sm_70
needs spirv:1.2
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
oclcc k.cl --target nvptx:sm_70 -o k.ptx && grep -x '.target sm_70, texmode_independent' k.ptx
oclcc k.cl --target spirv:1.2 -o k.spv && file -b k.spv
oclcc k.cl --target nvptx:sm_70 -o k.cubin; echo "exit $?"
oclcc k.cl --target spirv:1.2 -o wrong.ptx; echo "exit $?"
oclcc k.cl --target nvptx:sm_50,sm_70 -o two.ptx; echo "exit $?"
ls
# expected output:
#| .target sm_70, texmode_independent
#| Khronos SPIR-V binary, little-endian, version 0x010000, generator 0x06000e
#| exit 2
#| exit 2
#| exit 2
#| k.cl
#| k.ptx
#| k.spv
# expected errors:
#| oclcc: error: cannot write 'k.cubin': 'nvptx:sm_70' produces PTX 6.0 for sm_70
#| oclcc: error: cannot write 'wrong.ptx': 'spirv:1.2' produces SPIR-V 1.0
#| oclcc: error: 'two.ptx' can contain only one device binary, but 2 different ones were built; select one with --device or --target

### standard_3_1
# OpenCL C 3.1, which clang does not know, is 3.0 with other numbers.
for target in nvptx:sm_70 spirv:1.2 amdgcn:gfx906; do
  needs $target
done
cat > k.cl <<'END'
#if __OPENCL_C_VERSION__ != 310 || CL_VERSION_3_1 != 310 || !defined __opencl_c_images
#error not 3.1
#endif
kernel void k(global uint* o) { *o = popcount(*o); }
END
oclcc k.cl -cl-std=CL3.1 --target nvptx:sm_70 --target spirv:1.2 -o k.clbin && oclcc --info -v k.clbin | grep -E '^    (target|requires)'
oclcc k.cl -cl-std=CL3.1 --target amdgcn:gfx906 -o k.clbin && oclcc --verify k.clbin
# gfx942 has no images.
oclcc k.cl -cl-std=CL3.1 --target amdgcn:gfx942 -o k.clbin; echo "exit $?"
# expected output:
#|     target    nvptx:sm_70
#|     target    spirv:1.2
#|     requires  Addresses Linkage Kernel OpenCL.std
#| exit 1
# expected errors:
#| k.cl:2:2: error: not 3.1
#|     2 | #error not 3.1
#|       |  ^

### spirv_messages
# Messages name the source line of what SPIR-V lacks, and nothing of llvm-spirv's own.
needs spirv:1.2
compile() {
  cat > k.cl
  oclcc k.cl --target spirv:1.2 -o k.spv
  echo "exit $?"
}
compile <<'END'
kernel void k(global uint* o) {
  o[0] = __builtin_elementwise_add_sat(o[1], o[2]);
}
END
compile <<'END'
typedef int six __attribute__((ext_vector_type(6)));
kernel void k(global six* o) { *o += 1; }
END
compile <<'END'
static int moved(int x) {
  int y;
  __asm__("mov %0, %1" : "=r"(y) : "r"(x));
  return y;
}
kernel void k(global int* o) { *o = moved(*o); }
END
compile <<'END'
uint __attribute__((overloadable)) intel_sub_group_shuffle(uint, uint);
kernel void k(global uint* o) { *o = intel_sub_group_shuffle(*o, 1u); }
END
# llvm-spirv 15 crashes over constants that clang writes as vectors of one element.
compile <<'END'
kernel void k(global uint2* o) { o[0] = as_uint2(1UL); o[1] = as_uint2(0x8000000000000000UL); }
END
spirv-val k.spv && echo "valid"
# expected output:
#| exit 1
#| exit 1
#| exit 1
#| exit 1
#| exit 0
#| valid
# expected errors:
#| k.cl:2:10: error: llvm-spirv does not translate the function 'llvm.uadd.sat.i32'
#|     2 |   o[0] = __builtin_elementwise_add_sat(o[1], o[2]);
#|       |          ^
#| k.cl:2:33: error: SPIR-V has no vectors of 6 elements
#|     2 | kernel void k(global six* o) { *o += 1; }
#|       |                                 ^
#| k.cl:3:3: error: SPIR-V has no inline assembly
#|     3 |   __asm__("mov %0, %1" : "=r"(y) : "r"(x));
#|       |   ^
#| k.cl:2:38: error: it requires the extension SPV_INTEL_subgroups of SPIR-V, which modules for all drivers do not use
#|     2 | kernel void k(global uint* o) { *o = intel_sub_group_shuffle(*o, 1u); }
#|       |                                      ^

### spirv_validity
# llvm-spirv 15 translates this code to invalid SPIR-V unless oclcc repairs it.
needs spirv:1.2
cat > k.cl <<'END'
inline float once(float a);
inline float once(float a) { return a + 1.0f; }

kernel void selects(global float4* a, int b) { *a = b ? a[1] : a[2]; }

kernel void loops(global int* a, int n) {
  do {
    do {
      if (a[n] == 3) { break; }
      --n;
    } while (n > a[1]);
    n -= 2;
  } while (n > 0);
  *a = n;
}

kernel void unrolls(global int* a, int n) {
  int x = 0;
#pragma unroll
  for (int i = 0; i < n; ++i) { x += a[i]; }
#pragma unroll
  do { x ^= a[n]; --n; } while (n > 0);
  a[0] = x;
}

kernel void calls(global float* a) { *a = once(*a); }
END
for version in 1.0 1.2 1.4; do
  oclcc k.cl --target "spirv:$version" -o k.spv && spirv-val k.spv && echo "$version is valid"
done
# expected output:
#| 1.0 is valid
#| 1.2 is valid
#| 1.4 is valid

### token
# Compilers and commands do not get the token of the remote cache.
needs spirv:1.2
echo 'kernel void k(global float* a) { *a = 5; }' > k.cl
printf '#!/bin/sh\nenv >> "%s/compiler"\nexec "%s" "$@"\n' "$PWD" "$clang" > clang
chmod +x clang
export CLBIN_REMOTE_TOKEN=sesame OTHER=present
oclcc k.cl --target spirv:1.2 --tool clang=clang -o k.clbin
oclcc --keygen k --no-passphrase
oclcc --sign --sign-with 'env > command; false' --public-key k.pub k.clbin 2> /dev/null
grep -c '^OTHER=present' command
grep -q '^OTHER=present' compiler && grep -h sesame compiler command
true
# expected output:
#| 1

### tool_versions
# A version other than the tested ones must be chosen with --tool. --list-targets knows it, too.
needs nvptx:sm_80
echo 'kernel void k(global int* a) { *a = 1; }' > k.cl
mkdir bin
printf '#!/bin/sh\necho "Cuda compilation tools, release 11.8, V11.8.89"\n' > bin/ptxas && chmod +x bin/ptxas
export PATH=$PWD/bin:$PATH
oclcc --list-targets | grep -E '^cubin:sm_(80|100) '
oclcc --list-targets --json | python3 -c '
import json, sys
for target in json.load(sys.stdin)["targets"]:
    if target["target"] == "cubin:sm_80":
        print(target["usable"], target["problem"], target["missing_packages"])'
oclcc k.cl --target cubin:sm_80; echo "exit $?"
# A chosen one is used, whatever its version.
oclcc --list-targets --tool ptxas=ptxas | grep -x cubin:sm_80
# That of Debian 13 is tested for what it knows.
printf '#!/bin/sh\necho "Cuda compilation tools, release 12.4, V12.4.131"\n' > bin/ptxas
oclcc --list-targets | grep -E '^cubin:sm_(90|100)'
# expected output:
#| cubin:sm_80                            ptxas is of version 11.8, and 13.0, 12.4 are tested; '--tool ptxas=*' uses it
#| cubin:sm_100                           ptxas is of version 11.8, and 13.0 is tested; '--tool ptxas=*' uses it
#| False ptxas is of version 11.8, and 13.0, 12.4 are tested; '--tool ptxas=*' uses it []
#| exit 1
#| cubin:sm_80
#| cubin:sm_90
#| cubin:sm_100                           ptxas is of version 12.4, and 13.0 is tested; '--tool ptxas=*' uses it
# expected errors:
#| oclcc: error: k.cl: 'cubin:sm_80': ptxas is of version 11.8, and 13.0, 12.4 are tested; '--tool ptxas=*' uses it

### tool_in_path
# --tool takes a name in PATH, and the entry says which release made it. The functions are the same.
needs nvptx:sm_70
echo 'kernel void k(global float* a) { *a = atan2(a[0], a[1]) + convert_int_sat(a[2]); }' > k.cl
for release in 15 17 18 19 22; do
  command -v "clang-$release" > path || continue
  oclcc k.cl --target nvptx:sm_70 --tool "clang=clang-$release" -q -o k.clbin || echo "clang-$release: $?"
  oclcc --info --json k.clbin | python3 -c '
import json, sys
entry = json.load(sys.stdin)["bundles"][0]["groups"][0]["entries"][0]
print("as asked" if entry["tools"]["clang"].startswith(sys.argv[1] + ".") else entry["tools"])' "$release"
done | sort -u
# expected output:
#| as asked

### unresolved
# If a target lacks a function, compiling fails, and the message names the function that the source
# calls.
needs nvptx:sm_70
needs spirv:1.2
cat > own.cl <<'END'
float elsewhere(float);
kernel void k(global float* a) { *a = elsewhere(*a); }
END
oclcc own.cl --target nvptx:sm_70 --target spirv:1.2; echo "exit $?"
cat > print.cl <<'END'
kernel void k(constant char* text) { printf("%s\n", text); }
END
oclcc print.cl --target nvptx:sm_70; echo "exit $?"
oclcc print.cl --target nvptx:sm_70 --target spirv:1.2 --keep-going -o print.clbin; echo "exit $?"
oclcc --info -v print.clbin | grep '^    target'
cat > overloads.cl <<'END'
__attribute__((overloadable)) int elsewhere(global int*, int);
kernel void k(global int* a) { *a = elsewhere(a, 1); }
END
oclcc overloads.cl --target nvptx:sm_70; echo "exit $?"
# expected output:
#| exit 1
#| exit 1
#| exit 1
#|     target    spirv:1.2
#| exit 1
# expected errors:
#| oclcc: error: own.cl: 'nvptx:sm_70': nothing defines the function 'elsewhere'
#| oclcc: error: own.cl: 'spirv:1.2': nothing defines the function 'elsewhere'
#| oclcc: error: print.cl: 'nvptx:sm_70': printf: the format and each string must be constant on NVIDIA's devices
#| oclcc: error: print.cl: 'nvptx:sm_70': printf: the format and each string must be constant on NVIDIA's devices
#| oclcc: error: overloads.cl: 'nvptx:sm_70': nothing defines the function 'elsewhere'

### variables
# Variables that clang reads are in the key: those of one run do not affect another. Nor does what
# clang prints about them before its version.
needs spirv:1.2
printf '#ifndef X\n#define X 5.0f\n#endif\nkernel void k(global float* a) { *a = X; }\n' > k.cl
notes() { grep -o 'compile cache: .*'; }
CCC_OVERRIDE_OPTIONS='+-DX=7.0f' oclcc k.cl --target spirv:1.2 -o with.clbin
oclcc -v k.cl --target spirv:1.2 -o without.clbin 2>&1 | notes
oclcc k.cl --target spirv:1.2 --no-cache -o reference.clbin
cmp without.clbin reference.clbin
CCC_OVERRIDE_OPTIONS='+-DX=7.0f' oclcc -v k.cl --target spirv:1.2 -o again.clbin 2>&1 | notes
cmp again.clbin with.clbin
versions() { oclcc --info --json "$1" | grep -A6 '"tools"'; }
versions with.clbin | grep -q '[0-9]\.[0-9]' || echo 'no version'
diff <(versions with.clbin) <(versions without.clbin) && echo "the same versions of compilers"
# expected output:
#| compile cache: miss: environment variable CCC_OVERRIDE_OPTIONS is gone
#| compile cache: hit
#| the same versions of compilers
