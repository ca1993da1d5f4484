#!/bin/bash
# The language is the same as that of AMD's driver, and the code object describes printf.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs amdgcn:gfx90a
cat > language.cl <<'END'
#if __OPENCL_VERSION__ != VERSION || __OPENCL_C_VERSION__ != C_VERSION || !__IMAGE_SUPPORT__ || \
    !__AMD__ || __AMDGCN_WAVEFRONT_SIZE != WAVEFRONT
#error other language
#endif
#if !cl_khr_fp64 || !cl_khr_fp16 || !cl_khr_int64_base_atomics || !cl_khr_3d_image_writes || \
    !cl_amd_media_ops || !cl_khr_depth_images
#error an extension is missing
#endif
#if C_VERSION == 200 && !defined(cl_khr_subgroups)
#error no sub-groups
#endif
kernel void k(global float* a) { *a = *a / 3.0f; }
END
oclcc language.cl --target amdgcn:gfx90a -DVERSION=200 -DC_VERSION=120 -DWAVEFRONT=64 -o a.clbin
oclcc language.cl --target amdgcn:gfx1030 -DVERSION=200 -DC_VERSION=120 -DWAVEFRONT=32 -o a.clbin
oclcc language.cl --target amdgcn:gfx803 -DVERSION=120 -DC_VERSION=120 -DWAVEFRONT=64 -o a.clbin
oclcc language.cl --target amdgcn:gfx90a -DVERSION=200 -DC_VERSION=120 -DWAVEFRONT=64 -cl-std=CL1.1 -o a.clbin
oclcc language.cl --target amdgcn:gfx90a -DVERSION=200 -DC_VERSION=200 -DWAVEFRONT=64 -cl-std=CL2.0 -o a.clbin

cat > print.cl <<'END'
constant char format[] = "second %d\n";
kernel void k(global int* a) {
  printf("first %s %v4hlf\n", "literal", (float4)(1.0f));
  printf(format, a[get_global_id(0)]);
}
END
oclcc print.cl --target amdgcn:gfx90a -o print.bin
strings -n 5 print.bin | grep -o -E '(first|second) %.*|hidden_(global_offset_[xyz]|printf_buffer)'

# The code object contains the settings of a target ID.
echo 'kernel void k() {}' > k.cl
for target in gfx906 gfx90a:sramecc+:xnack- gfx90a:xnack+ gfx1010:xnack-; do
  oclcc k.cl --target "amdgcn:$target" -o k.clbin && oclcc --info -v k.clbin | grep -E '^  (entry|  target)'
done
# expected output:
#| hidden_global_offset_x
#| hidden_global_offset_y
#| hidden_global_offset_z
#| hidden_printf_buffer
#| first %s %v4hlf\n
#| second %d\n
#|   entry     AMD code object gfx906
#|     target    amdgcn:gfx906
#|   entry     AMD code object gfx90a:sramecc+:xnack-
#|     target    amdgcn:gfx90a:sramecc+:xnack-
#|   entry     AMD code object gfx90a:xnack+
#|     target    amdgcn:gfx90a:xnack+
#|   entry     AMD code object gfx1010:xnack-
#|     target    amdgcn:gfx1010:xnack-
