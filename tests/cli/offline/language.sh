#!/bin/bash
# Defines the macros of NVIDIA's driver 580 for each -cl-std (doc/nvptx.md), because programs test
# them.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_70
cat > common.clh <<'END'
#if __OPENCL_VERSION__ != 300 || __NV_CL_C_VERSION != __OPENCL_C_VERSION__
#error versions
#endif
#if !__IMAGE_SUPPORT__ || !__ENDIAN_LITTLE__ || !__NVPTX__ || !__PTX__ || !__clang__
#error of the target
#endif
#if CL_VERSION_1_0 != 100 || CL_VERSION_1_1 != 110 || CL_VERSION_1_2 != 120
#error CL_VERSION
#endif
#if !cl_khr_fp64 || !cl_khr_int64_base_atomics || !cl_khr_int64_extended_atomics
#error 64 bits
#endif
#if !cl_khr_global_int32_base_atomics || !cl_khr_global_int32_extended_atomics || \
    !cl_khr_local_int32_base_atomics || !cl_khr_local_int32_extended_atomics
#error 32 bits
#endif
#if !cl_khr_byte_addressable_store || !cl_khr_3d_image_writes || !cl_khr_icd ||  \
    !cl_khr_gl_sharing || !cl_khr_select_fprounding_mode || !cl_nv_pragma_unroll
#error extensions
#endif
#if defined FP_FAST_FMA || defined FP_FAST_FMAF || defined __CUDA_ARCH__ || defined cl_khr_fp16 || \
    defined cl_khr_subgroups || defined cl_nv_compiler_options
#error what the driver does not define
#endif
kernel void k(global float* a) { *a = 1; }
END
cat > cl30.cl <<'END'
#include "common.clh"
#if __OPENCL_C_VERSION__ != 300 || CL_VERSION_2_0 != 200 || CL_VERSION_3_0 != 300
#error OpenCL C 3.0
#endif
#if !__opencl_c_images || !__opencl_c_fp64 || !__opencl_c_int64 || !__opencl_c_3d_image_writes
#error features
#endif
#if defined __opencl_c_generic_address_space || defined __opencl_c_pipes || defined __opencl_c_subgroups
#error features that it lacks
#endif
END
printf '#include "common.clh"\n#if __OPENCL_C_VERSION__ != 120\n#error OpenCL C 1.2\n#endif\n' > cl12.cl
printf '#include "common.clh"\n#if __OPENCL_C_VERSION__ != 200\n#error OpenCL C 2.0\n#endif\n' > cl20.cl
oclcc cl30.cl --target nvptx:sm_70 -o a.ptx && echo "the default is 3.0"
oclcc cl30.cl --target nvptx:sm_70 -cl-std=CL3.0 -o b.ptx && cmp a.ptx b.ptx && echo "3.0"
oclcc cl12.cl --target nvptx:sm_70 -cl-std=CL1.2 -o c.ptx && echo "1.2"
oclcc cl20.cl --target nvptx:sm_70 -cl-std=CL2.0 -o d.ptx && echo "2.0"
# expected output:
#| the default is 3.0
#| 3.0
#| 1.2
#| 2.0
