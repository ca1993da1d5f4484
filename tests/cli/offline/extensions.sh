#!/bin/bash
# The extension macros of each target are true: what they announce compiles.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
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
oclcc branch.cl --target amdgcn:gfx906 --target nvptx:sm_70 --target spirv:1.2 -o branch.clbin && oclcc --info branch.clbin | grep -c '^    target'
# expected output:
#| assembly
#| 3
