#!/bin/bash
# Lists every target, and marks those whose tools are missing.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
oclcc=$(command -v oclcc)
PATH=/nonexistent "$oclcc" --list-targets
schema=$ROOT/oclcc/schema/list-targets.schema.json
oclcc --list-targets --json | python3 "$CLI_TESTS/check_schema.py" "$schema"
PATH=/nonexistent "$oclcc" --list-targets --json > json
python3 "$CLI_TESTS/check_schema.py" "$schema" < json
# Each target of NVIDIA has a line of extensions, in JSON a list; sm_50 and sm_52 have no half.
PATH=/nonexistent "$oclcc" --list-targets -v > verbose
grep -v '^    ' verbose | diff - <(PATH=/nonexistent "$oclcc" --list-targets) && echo "the other lines"
grep -A 1 '^nvptx:sm_5[23]' verbose | grep '^    '
grep -c '^    -cl-ext=+' verbose; grep -c '^    .*cl_khr_fp16' verbose
python3 -c '
import json
targets = json.load(open("json"))["targets"]
lines = ["    -cl-ext=+" + ",+".join(target["extensions"]) for target in targets if target["extensions"]]
print(lines == [line.rstrip() for line in open("verbose") if line.startswith(" ")])'
oclcc --list-targets k.cl; echo "exit $?"
# expected output:
#| nvptx:sm_50                            requires the *
#| nvptx:sm_52                            requires the *
#| nvptx:sm_53                            requires the *
#| nvptx:sm_60                            requires the *
#| nvptx:sm_61                            requires the *
#| nvptx:sm_62                            requires the *
#| nvptx:sm_70                            requires the *
#| nvptx:sm_72                            requires the *
#| nvptx:sm_75                            requires the *
#| nvptx:sm_80                            requires the *
#| nvptx:sm_86                            requires the *
#| nvptx:sm_87                            requires the *
#| nvptx:sm_89                            requires the *
#| nvptx:sm_90                            requires the *
#| nvptx:sm_100                           requires the *
#| nvptx:sm_103                           requires the *
#| nvptx:sm_110                           requires the *
#| nvptx:sm_120                           requires the *
#| nvptx:sm_121                           requires the *
#| cubin:sm_75                            requires the *
#| cubin:sm_80                            requires the *
#| cubin:sm_86                            requires the *
#| cubin:sm_87                            requires the *
#| cubin:sm_88                            requires the *
#| cubin:sm_89                            requires the *
#| cubin:sm_90                            requires the *
#| cubin:sm_100                           requires the *
#| cubin:sm_103                           requires the *
#| cubin:sm_110                           requires the *
#| cubin:sm_120                           requires the *
#| cubin:sm_121                           requires the *
#| amdgcn:gfx803                          requires the *
#| amdgcn:gfx900                          requires the *
#| amdgcn:gfx900:xnack-                   requires the *
#| amdgcn:gfx900:xnack+                   requires the *
#| amdgcn:gfx902                          requires the *
#| amdgcn:gfx902:xnack-                   requires the *
#| amdgcn:gfx902:xnack+                   requires the *
#| amdgcn:gfx904                          requires the *
#| amdgcn:gfx904:xnack-                   requires the *
#| amdgcn:gfx904:xnack+                   requires the *
#| amdgcn:gfx906                          requires the *
#| amdgcn:gfx906:xnack-                   requires the *
#| amdgcn:gfx906:xnack+                   requires the *
#| amdgcn:gfx906:sramecc-                 requires the *
#| amdgcn:gfx906:sramecc-:xnack-          requires the *
#| amdgcn:gfx906:sramecc-:xnack+          requires the *
#| amdgcn:gfx906:sramecc+                 requires the *
#| amdgcn:gfx906:sramecc+:xnack-          requires the *
#| amdgcn:gfx906:sramecc+:xnack+          requires the *
#| amdgcn:gfx908                          requires the *
#| amdgcn:gfx908:xnack-                   requires the *
#| amdgcn:gfx908:xnack+                   requires the *
#| amdgcn:gfx908:sramecc-                 requires the *
#| amdgcn:gfx908:sramecc-:xnack-          requires the *
#| amdgcn:gfx908:sramecc-:xnack+          requires the *
#| amdgcn:gfx908:sramecc+                 requires the *
#| amdgcn:gfx908:sramecc+:xnack-          requires the *
#| amdgcn:gfx908:sramecc+:xnack+          requires the *
#| amdgcn:gfx909                          requires the *
#| amdgcn:gfx909:xnack-                   requires the *
#| amdgcn:gfx909:xnack+                   requires the *
#| amdgcn:gfx90a                          requires the *
#| amdgcn:gfx90a:xnack-                   requires the *
#| amdgcn:gfx90a:xnack+                   requires the *
#| amdgcn:gfx90a:sramecc-                 requires the *
#| amdgcn:gfx90a:sramecc-:xnack-          requires the *
#| amdgcn:gfx90a:sramecc-:xnack+          requires the *
#| amdgcn:gfx90a:sramecc+                 requires the *
#| amdgcn:gfx90a:sramecc+:xnack-          requires the *
#| amdgcn:gfx90a:sramecc+:xnack+          requires the *
#| amdgcn:gfx90c                          requires the *
#| amdgcn:gfx90c:xnack-                   requires the *
#| amdgcn:gfx90c:xnack+                   requires the *
#| amdgcn:gfx942                          requires the *
#| amdgcn:gfx942:xnack-                   requires the *
#| amdgcn:gfx942:xnack+                   requires the *
#| amdgcn:gfx942:sramecc-                 requires the *
#| amdgcn:gfx942:sramecc-:xnack-          requires the *
#| amdgcn:gfx942:sramecc-:xnack+          requires the *
#| amdgcn:gfx942:sramecc+                 requires the *
#| amdgcn:gfx942:sramecc+:xnack-          requires the *
#| amdgcn:gfx942:sramecc+:xnack+          requires the *
#| amdgcn:gfx950                          requires the *
#| amdgcn:gfx950:xnack-                   requires the *
#| amdgcn:gfx950:xnack+                   requires the *
#| amdgcn:gfx950:sramecc-                 requires the *
#| amdgcn:gfx950:sramecc-:xnack-          requires the *
#| amdgcn:gfx950:sramecc-:xnack+          requires the *
#| amdgcn:gfx950:sramecc+                 requires the *
#| amdgcn:gfx950:sramecc+:xnack-          requires the *
#| amdgcn:gfx950:sramecc+:xnack+          requires the *
#| amdgcn:gfx1010                         requires the *
#| amdgcn:gfx1010:xnack-                  requires the *
#| amdgcn:gfx1010:xnack+                  requires the *
#| amdgcn:gfx1011                         requires the *
#| amdgcn:gfx1011:xnack-                  requires the *
#| amdgcn:gfx1011:xnack+                  requires the *
#| amdgcn:gfx1012                         requires the *
#| amdgcn:gfx1012:xnack-                  requires the *
#| amdgcn:gfx1012:xnack+                  requires the *
#| amdgcn:gfx1013                         requires the *
#| amdgcn:gfx1013:xnack-                  requires the *
#| amdgcn:gfx1013:xnack+                  requires the *
#| amdgcn:gfx1030                         requires the *
#| amdgcn:gfx1031                         requires the *
#| amdgcn:gfx1032                         requires the *
#| amdgcn:gfx1033                         requires the *
#| amdgcn:gfx1034                         requires the *
#| amdgcn:gfx1035                         requires the *
#| amdgcn:gfx1036                         requires the *
#| amdgcn:gfx1100                         requires the *
#| amdgcn:gfx1101                         requires the *
#| amdgcn:gfx1102                         requires the *
#| amdgcn:gfx1103                         requires the *
#| amdgcn:gfx1150                         requires the *
#| amdgcn:gfx1151                         requires the *
#| amdgcn:gfx1152                         requires the *
#| amdgcn:gfx1153                         requires the *
#| amdgcn:gfx1200                         requires the *
#| amdgcn:gfx1201                         requires the *
#| amdgcn:gfx9-generic                    requires the *
#| amdgcn:gfx9-generic:xnack-             requires the *
#| amdgcn:gfx9-generic:xnack+             requires the *
#| amdgcn:gfx9-4-generic                  requires the *
#| amdgcn:gfx9-4-generic:xnack-           requires the *
#| amdgcn:gfx9-4-generic:xnack+           requires the *
#| amdgcn:gfx9-4-generic:sramecc-         requires the *
#| amdgcn:gfx9-4-generic:sramecc-:xnack-  requires the *
#| amdgcn:gfx9-4-generic:sramecc-:xnack+  requires the *
#| amdgcn:gfx9-4-generic:sramecc+         requires the *
#| amdgcn:gfx9-4-generic:sramecc+:xnack-  requires the *
#| amdgcn:gfx9-4-generic:sramecc+:xnack+  requires the *
#| amdgcn:gfx10-1-generic                 requires the *
#| amdgcn:gfx10-1-generic:xnack-          requires the *
#| amdgcn:gfx10-1-generic:xnack+          requires the *
#| amdgcn:gfx10-3-generic                 requires the *
#| amdgcn:gfx11-generic                   requires the *
#| amdgcn:gfx12-generic                   requires the *
#| intel:bdw                              requires the *
#| intel:skl                              requires the *
#| intel:kbl                              requires the *
#| intel:cfl                              requires the *
#| intel:bxt                              requires the *
#| intel:glk                              requires the *
#| intel:icllp                            requires the *
#| intel:lkf                              requires the *
#| intel:ehl                              requires the *
#| intel:tgllp                            requires the *
#| intel:rkl                              requires the *
#| intel:adl-s                            requires the *
#| intel:adl-p                            requires the *
#| intel:adl-n                            requires the *
#| intel:dg1                              requires the *
#| intel:dg2                              requires the *
#| intel:acm-g11                          requires the *
#| intel:acm-g12                          requires the *
#| intel:pvc                              requires the *
#| intel:mtl                              requires the *
#| intel:mtl-h                            requires the *
#| intel:arl-h                            requires the *
#| intel:bmg                              requires the *
#| intel:bmg-g31                          requires the *
#| intel:lnl                              requires the *
#| intel:ptl                              requires the *
#| intel:ptl-u                            requires the *
#| intel:wcl                              requires the *
#| spirv:1.0:32                           requires the *
#| spirv:1.0                              requires the *
#| spirv:1.1:32                           requires the *
#| spirv:1.1                              requires the *
#| spirv:1.2:32                           requires the *
#| spirv:1.2                              requires the *
#| spirv:1.3:32                           requires the *
#| spirv:1.3                              requires the *
#| spirv:1.4:32                           requires the *
#| spirv:1.4                              requires the *
#| all = nvptx:sm_50 nvptx:sm_60 nvptx:sm_70 nvptx:sm_80 nvptx:sm_90 nvptx:sm_100 nvptx:sm_110 nvptx:sm_120 amdgcn:gfx803 amdgcn:gfx900 amdgcn:gfx902 amdgcn:gfx904 amdgcn:gfx906 amdgcn:gfx908 amdgcn:gfx909 amdgcn:gfx90a amdgcn:gfx90c amdgcn:gfx942 amdgcn:gfx1010 amdgcn:gfx1011 amdgcn:gfx1012 amdgcn:gfx1013 amdgcn:gfx1030 amdgcn:gfx1031 amdgcn:gfx1032 amdgcn:gfx1033 amdgcn:gfx1034 amdgcn:gfx1035 amdgcn:gfx1036 amdgcn:gfx1100 amdgcn:gfx1101 amdgcn:gfx1102 amdgcn:gfx1103 amdgcn:gfx1150 amdgcn:gfx1151 amdgcn:gfx1152 amdgcn:gfx1200 amdgcn:gfx1201 intel:bdw intel:skl intel:kbl intel:cfl intel:bxt intel:glk intel:icllp intel:lkf intel:ehl intel:tgllp intel:rkl intel:adl-s intel:adl-p intel:adl-n intel:dg1 spirv:1.2
#| gpus = nvptx:sm_50 nvptx:sm_70 amdgcn:gfx803 amdgcn:gfx908 amdgcn:gfx90a amdgcn:gfx942 amdgcn:gfx9-generic amdgcn:gfx10-1-generic amdgcn:gfx10-3-generic amdgcn:gfx11-generic amdgcn:gfx12-generic spirv:1.2
#| nvptx:all = nvptx:sm_50 nvptx:sm_52 nvptx:sm_53 nvptx:sm_60 nvptx:sm_61 nvptx:sm_62 nvptx:sm_70 nvptx:sm_72 nvptx:sm_75 nvptx:sm_80 nvptx:sm_86 nvptx:sm_87 nvptx:sm_89 nvptx:sm_90 nvptx:sm_100 nvptx:sm_103 nvptx:sm_110 nvptx:sm_120 nvptx:sm_121
#| nvptx:all-major = nvptx:sm_50 nvptx:sm_60 nvptx:sm_70 nvptx:sm_80 nvptx:sm_90 nvptx:sm_100 nvptx:sm_110 nvptx:sm_120
#| cubin:all = cubin:sm_75 cubin:sm_80 cubin:sm_86 cubin:sm_87 cubin:sm_88 cubin:sm_89 cubin:sm_90 cubin:sm_100 cubin:sm_103 cubin:sm_110 cubin:sm_120 cubin:sm_121
#| amdgcn:all = amdgcn:gfx803 amdgcn:gfx900 amdgcn:gfx902 amdgcn:gfx904 amdgcn:gfx906 amdgcn:gfx908 amdgcn:gfx909 amdgcn:gfx90a amdgcn:gfx90c amdgcn:gfx942 amdgcn:gfx1010 amdgcn:gfx1011 amdgcn:gfx1012 amdgcn:gfx1013 amdgcn:gfx1030 amdgcn:gfx1031 amdgcn:gfx1032 amdgcn:gfx1033 amdgcn:gfx1034 amdgcn:gfx1035 amdgcn:gfx1036 amdgcn:gfx1100 amdgcn:gfx1101 amdgcn:gfx1102 amdgcn:gfx1103 amdgcn:gfx1150 amdgcn:gfx1151 amdgcn:gfx1152 amdgcn:gfx1200 amdgcn:gfx1201
#| intel:all = intel:bdw intel:skl intel:kbl intel:cfl intel:bxt intel:glk intel:icllp intel:lkf intel:ehl intel:tgllp intel:rkl intel:adl-s intel:adl-p intel:adl-n intel:dg1
#| spirv:all = spirv:1.0 spirv:1.1 spirv:1.2 spirv:1.3 spirv:1.4
#| fits the schema
#| fits the schema
#| the other lines
#|     -cl-ext=+cl_khr_subgroups,+cl_khr_subgroup_ballot,+cl_khr_subgroup_clustered_reduce,+cl_khr_subgroup_extended_types,+cl_khr_subgroup_non_uniform_arithmetic,+cl_khr_subgroup_non_uniform_vote,+cl_khr_subgroup_rotate,+cl_khr_subgroup_shuffle,+cl_khr_subgroup_shuffle_relative,+__opencl_c_work_group_collective_functions,+cl_khr_extended_bit_ops,+cl_khr_integer_dot_product,+cl_khr_kernel_clock,+__opencl_c_generic_address_space,+__opencl_c_atomic_order_acq_rel,+__opencl_c_atomic_order_seq_cst,+__opencl_c_atomic_scope_device,+__opencl_c_atomic_scope_all_devices
#|     -cl-ext=+cl_khr_fp16,+cl_khr_subgroups,+cl_khr_subgroup_ballot,+cl_khr_subgroup_clustered_reduce,+cl_khr_subgroup_extended_types,+cl_khr_subgroup_non_uniform_arithmetic,+cl_khr_subgroup_non_uniform_vote,+cl_khr_subgroup_rotate,+cl_khr_subgroup_shuffle,+cl_khr_subgroup_shuffle_relative,+__opencl_c_work_group_collective_functions,+cl_khr_extended_bit_ops,+cl_khr_integer_dot_product,+cl_khr_kernel_clock,+__opencl_c_generic_address_space,+__opencl_c_atomic_order_acq_rel,+__opencl_c_atomic_order_seq_cst,+__opencl_c_atomic_scope_device,+__opencl_c_atomic_scope_all_devices
#| 31
#| 29
#| True
#| exit 2
# expected errors:
#| oclcc: error: '--list-targets' accepts no input file, but 'k.cl' is given
