#!/bin/bash
# -cl-ext=+NAME requests extensions that NVIDIA's driver does not have. Without it, the language is the
# driver's.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_70
needs amdgcn:gfx90a
needs spirv:1.2
cat > half.cl << 'END'
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void k(global half2* o, half a, global short2* s) {
  o[0] = sin(o[1]) / a;
  s[0] = o[1] < o[2];
}
#else
kernel void k(global float* o) { *o = 1; }
#endif
#if defined cl_khr_subgroups || defined cl_khr_integer_dot_product
#error not requested
#endif
END
cat > groups.cl << 'END'
kernel void k(global uint* o) {
  o[1] = sub_group_reduce_add(o[0]);
  if (o[2] == 3) o[3] = sub_group_ballot(o[4]).x;
}
END
cat > dot.cl << 'END'
kernel void k(global uint* o) { o[0] = dot_4x8packed_uu_uint(o[1], o[2]) + bit_reverse(o[3]); o[4] = clock_read_device(); }
END
groups=-cl-ext=+cl_khr_subgroups,+cl_khr_subgroup_ballot
integers=-cl-ext=+cl_khr_integer_dot_product,+cl_khr_extended_bit_ops,+cl_khr_kernel_clock
# instructions FILE WORDS: the version, and the instructions that tell how the functions are computed.
instructions() {
  oclcc "$1" --target "${@:2}" -o k.ptx &&
    echo "$2: $(grep -o -E '^.version.*|(div.rn|setp.lt.f16x2|activemask|redux|dp4a|globaltimer|isspacep.shared)' k.ptx | sort -u | tr '\n' ' ')"
}
echo "== half"
instructions half.cl nvptx:sm_53 -cl-ext=+cl_khr_fp16
instructions half.cl nvptx:sm_53
oclcc half.cl --target nvptx:sm_53,sm_70 -cl-ext=+cl_khr_fp16 -o half.clbin && oclcc --info -v half.clbin | grep -E '^  (options|entry)'
cat > print.cl << 'END'
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void k(half a) { printf("%f %d\n", a, 1); }
END
oclcc print.cl --target nvptx:sm_53 -cl-ext=+cl_khr_fp16 -o print.ptx && echo "printf accepts half"
echo "== sub-groups"
instructions groups.cl nvptx:sm_70 "$groups"
instructions groups.cl nvptx:sm_80 "$groups"
echo "== integers"
instructions dot.cl nvptx:sm_60 "$integers"
instructions dot.cl nvptx:sm_61 "$integers"
echo "== generic pointers"
echo 'int f(int* p) { return *p; } kernel void k(global int* o, local int* l) { o[0] = f(o) + f(l) + get_fence(l); }' > generic.cl
instructions generic.cl nvptx:sm_50 -cl-ext=+__opencl_c_generic_address_space
oclcc generic.cl --target nvptx:sm_50 -cl-std=CL1.2 -cl-ext=+__opencl_c_generic_address_space -o none.clbin
echo "== atomic functions, with an order and a scope and without"
cat > atomic.cl << 'END'
kernel void k(volatile global atomic_int* p, volatile global atomic_flag* f, global int* r) {
  int old = 3;
  r[0] = atomic_fetch_add(p, 1) + atomic_load(p) + atomic_exchange(p, 4);
  r[1] = atomic_fetch_max_explicit(p, 1, memory_order_acq_rel);
  r[2] = atomic_fetch_max_explicit(p, 1, memory_order_seq_cst, memory_scope_all_svm_devices);
  r[3] = atomic_compare_exchange_strong(p, &old, 5);
  r[4] = atomic_compare_exchange_weak_explicit(p, &old, 5, memory_order_acquire, memory_order_relaxed);
  atomic_store(p, 1);
  r[5] = atomic_flag_test_and_set(f);
  atomic_flag_clear(f);
}
END
all=-cl-ext=
for feature in order_acq_rel order_seq_cst scope_device scope_all_devices; do all+=+__opencl_c_atomic_$feature,; done
oclcc atomic.cl --target nvptx:sm_50 -cl-std=CL2.0 -o atomic.ptx && echo "OpenCL C 2.0 has them"
oclcc atomic.cl --target nvptx:sm_50 -cl-std=CL3.0 "${all%,}" -o atomic.ptx && grep -o -E 'membar\.[a-z]+' atomic.ptx | sort | uniq -c
oclcc atomic.cl --target nvptx:sm_50 -cl-std=CL3.0 -o none.clbin 2>&1 | grep -c error:
for orders in release,acquire release,relaxed relaxed,relaxed acquire,acquire; do
  echo "kernel void k(volatile global atomic_int* p, int old) { atomic_compare_exchange_strong_explicit(p, &old, 5, memory_order_${orders%,*}, memory_order_${orders#*,}, memory_scope_device); }" > orders.cl
  oclcc orders.cl --target nvptx:sm_70 -cl-std=CL3.0 -o orders.ptx && echo "$orders: $(grep -o -E 'membar|atom' orders.ptx | tr '\n' ' ')"
done
oclcc atomic.cl --target nvptx:sm_50 -cl-std=CL1.2 "${all%,}" -o none.clbin 2>&1 | head -1
echo "== work-groups: only the kernel that combines the work-items' numbers needs local memory"
work=-cl-ext=+__opencl_c_work_group_collective_functions
cat > work.cl << 'END'
#ifndef __opencl_c_work_group_collective_functions
#error not requested
#endif
kernel void other(global int* o) { *o = 1; }
kernel void sum(global int* o) { *o = work_group_reduce_add(*o); }
kernel void vote(global int* o) { *o = work_group_any(*o); }
END
oclcc work.cl --target nvptx:sm_50 "$work" -o work.clbin && oclcc --info -v work.clbin | grep -A 1 '^    kernel'
oclcc work.cl --target nvptx:sm_50 "$work" -cl-std=CL2.0 -o work.ptx && echo "OpenCL C 2.0 has them, too"
oclcc work.cl --target nvptx:sm_50 "$work" -cl-std=CL1.2 -o none.clbin
for standard in CL2.0 CL3.0; do
  tail -1 work.cl > vote.cl && oclcc vote.cl --target nvptx:sm_50 -cl-std=$standard -o none.clbin 2>&1 | grep error
done
echo "== what is requested and not used changes nothing"
echo 'kernel void k(global float* a) { *a = sin(*a) / a[1]; }' > plain.cl
oclcc plain.cl --target nvptx:sm_70 -o plain.ptx
oclcc plain.cl --target nvptx:sm_70 -cl-ext=+cl_khr_fp16 "$groups" "$integers" "$work" -o same.ptx && cmp plain.ptx same.ptx
echo "== what each family has by default"
for target in nvptx:sm_50 amdgcn:gfx90a spirv:1.2; do
  oclcc plain.cl --target "$target" -cl-ext=+cl_khr_fp64,+cl_khr_byte_addressable_store -o default.clbin || echo "$target"
done
oclcc half.cl --target amdgcn:gfx90a --target spirv:1.2 -cl-ext=+cl_khr_fp16 -o both.clbin
echo "exit $?"
echo "== errors"
for request in +cl_khr_fp16 +cl_khr_none cl_khr_fp64 +cl_khr_fp64,-cl_khr_fp16 +cl_khr_fp64,+; do
  oclcc plain.cl --target nvptx:sm_52 "-cl-ext=$request" -o none.clbin
done
oclcc plain.cl --target nvptx:sm_70 -cl-std=CL1.2 -cl-ext=+cl_khr_subgroups -o none.clbin
oclcc plain.cl --target amdgcn:gfx90a -cl-ext=+cl_khr_integer_dot_product -o none.clbin
oclcc plain.cl --target spirv:1.2 -cl-ext=+cl_khr_subgroup_shuffle -o none.clbin
oclcc plain.cl --target nvptx:sm_50,sm_70 --keep-going -cl-ext=+cl_khr_fp16 -o some.clbin
oclcc --info -v some.clbin | grep '^  entry'
# expected output:
#| == half
#| nvptx:sm_53: .version 6.0 div.rn setp.lt.f16x2 
#| nvptx:sm_53: .version 6.0 
#|   options   -cl-ext=+cl_khr_fp16
#|   entry     PTX 6.0 for sm_53
#|   entry     PTX 6.0 for sm_70
#| printf accepts half
#| == sub-groups
#| nvptx:sm_70: .version 6.2 activemask 
#| nvptx:sm_80: .version 7.0 activemask redux 
#| == integers
#| nvptx:sm_60: .version 6.0 globaltimer 
#| nvptx:sm_61: .version 6.0 dp4a globaltimer 
#| == generic pointers
#| nvptx:sm_50: .version 6.0 isspacep.shared 
#| == atomic functions, with an order and a scope and without
#| OpenCL C 2.0 has them
#|      17 membar.gl
#|       2 membar.sys
#| 11
#| release,acquire: membar atom membar 
#| release,relaxed: membar atom 
#| relaxed,relaxed: atom 
#| acquire,acquire: atom membar 
#| oclcc: error: atomic.cl: 'nvptx:sm_50': its compiler does not have the extension '__opencl_c_atomic_order_acq_rel'
#| == work-groups: only the kernel that combines the work-items' numbers needs local memory
#|     kernel    other(global int* o)
#|                 0 bytes of local memory
#|     kernel    sum(global int* o)
#|                 256 bytes of local memory
#|     kernel    vote(global int* o)
#|                 0 bytes of local memory
#| OpenCL C 2.0 has them, too
#| vote.cl:1:40: error: use of undeclared identifier 'work_group_any'
#| vote.cl:1:40: error: use of undeclared identifier 'work_group_any'
#| == what is requested and not used changes nothing
#| == what each family has by default
#| exit 0
#| == errors
#|   entry     PTX 6.0 for sm_70
# expected errors:
#| oclcc: error: generic.cl: 'nvptx:sm_50': its compiler does not have the extension '__opencl_c_generic_address_space'
#| oclcc: error: work.cl: 'nvptx:sm_50': its compiler does not have the extension '__opencl_c_work_group_collective_functions'
#| oclcc: error: plain.cl: 'nvptx:sm_52': 'cl_khr_fp16' requires sm_53 or later
#| oclcc: error: plain.cl: 'nvptx:sm_52': its compiler does not have the extension 'cl_khr_none'
#| oclcc: error: plain.cl: 'nvptx:sm_52': '-cl-ext=cl_khr_fp64': extensions are requested as '+NAME,+NAME'
#| oclcc: error: plain.cl: 'nvptx:sm_52': '-cl-ext=+cl_khr_fp64,-cl_khr_fp16': extensions are requested as '+NAME,+NAME'
#| oclcc: error: plain.cl: 'nvptx:sm_52': '-cl-ext=+cl_khr_fp64,+': extensions are requested as '+NAME,+NAME'
#| oclcc: error: plain.cl: 'nvptx:sm_70': its compiler does not have the extension 'cl_khr_subgroups'
#| oclcc: error: plain.cl: 'amdgcn:gfx90a': its compiler does not have the extension 'cl_khr_integer_dot_product'
#| oclcc: error: plain.cl: 'spirv:1.2': its compiler does not have the extension 'cl_khr_subgroup_shuffle'
#| oclcc: error: plain.cl: 'nvptx:sm_50': 'cl_khr_fp16' requires sm_53 or later
