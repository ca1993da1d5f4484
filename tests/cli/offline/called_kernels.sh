#!/bin/bash
# A kernel may call a kernel, as a function. What the driver would reject is an error.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_80
needs amdgcn:gfx906
needs spirv:1.2
cat > calls.cl <<'END'
typedef struct { float factor; int count; } settings_t;
kernel void scale(global float* a, settings_t s, local float* l) {
  local float own[64];
  own[get_local_id(0) % 64] = a[get_global_id(0)];
  l[get_local_id(0)] = own[get_local_id(0) % 64];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < s.count; ++i) a[get_global_id(0)] += pow(own[i % 64], s.factor) + l[i];
}
__attribute__((noinline)) kernel void twice(global float* a, settings_t s, local float* l) {
  printf("twice %d\n", s.count);
  scale(a, s, l);
  scale(a, s, l);
}
kernel __attribute__((reqd_work_group_size(8, 1, 1))) void all(global float* a, local float* l) {
  settings_t s = {*a, 3};
  twice(a, s, l);
  scale(a, s, l);
}
kernel void read(read_only image2d_t i, sampler_t s, global float4* o) { o[0] = read_imagef(i, s, (int2)(1)); }
kernel void reads(read_only image2d_t i, sampler_t s, global float4* o) { read(i, s, o + 1); }
END
for target in nvptx:sm_80 amdgcn:gfx906 amdgcn:gfx1030 spirv:1.2; do
  oclcc -q calls.cl --target $target -o calls.clbin && oclcc --info -v calls.clbin | grep -c '^ *kernel '
done
oclcc -q calls.cl --target nvptx:sm_80 -o calls.ptx
grep -E '^\.(visible )?\.?entry ' calls.ptx
ptxas=$(PATH=$PATH:/usr/local/cuda/bin command -v ptxas) && { "$ptxas" -arch=sm_80 calls.ptx -o calls.cubin || echo "not assembled"; }

# Nothing in PTX may call a kernel, or name what is nowhere defined.
echo 'kernel void g(global int* a); kernel void f(global int* a) { g(a); }' > declared.cl
oclcc declared.cl --target nvptx:sm_80; echo "exit $?"
echo 'kernel void g() {} kernel void f(global int* a) { __asm__ volatile("call.uni g;"); }' > assembly.cl
oclcc assembly.cl --target nvptx:sm_80; echo "exit $?"
echo 'kernel void f(global int* a) { __asm__ volatile("call.uni elsewhere;"); }' > assembly.cl
oclcc assembly.cl --target nvptx:sm_80; echo "exit $?"
echo 'extern constant int table[4]; kernel void f(global int* a, int i) { *a = table[i]; }' > variable.cl
oclcc variable.cl --target nvptx:sm_80; echo "exit $?"
ls -- *.cl *.ptx *.clbin
# expected output:
#| 5
#| 5
#| 5
#| 5
#| .entry scale(
#| .entry twice(
#| .entry all(
#| .entry read(
#| .entry reads(
#| exit 1
#| exit 1
#| exit 1
#| exit 1
#| assembly.cl
#| calls.cl
#| calls.clbin
#| calls.ptx
#| declared.cl
#| variable.cl
# expected errors:
#| oclcc: error: declared.cl: 'nvptx:sm_80': nothing defines the function 'g'
#| oclcc: error: assembly.cl: 'nvptx:sm_80': the code calls the kernel 'g', and NVIDIA's devices can call functions only
#| oclcc: error: assembly.cl: 'nvptx:sm_80': nothing defines the function 'elsewhere'
#| oclcc: error: variable.cl: 'nvptx:sm_80': nothing defines the variable 'table'
