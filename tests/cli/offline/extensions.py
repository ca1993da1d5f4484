#!/usr/bin/env python3
"""Checks that each macro of an extension or a feature that an offline target defines is true: a kernel
that uses what it adds compiles. A program tests the macro and uses the function, hence a macro without its
functions makes the program fail that would compile without the macro.

    extensions.py TARGET=CLANG...

Prints a line for each macro that is wrong, or that this table does not know. Skips what a target does
not define.
"""

import os
import re
import subprocess
import sys

INTEGER = "kernel void k(global uint* o, uint a, uint b, uint c) {{ o[0] = {}; }}"
ATOMIC = (
    "kernel void k(global volatile atomic_int* o, int a) {{ atomic_fetch_add_explicit(o, a, {}); }}"
)
# Kernels by the macro that announces what they use. An empty text: the extension adds no function.
KERNELS = {
    "cl_clang_storage_class_specifiers": "static constant int x = 1;"
    "kernel void k(global int* o) { o[0] = x; }",
    "cl_khr_icd": "",
    "cl_khr_gl_sharing": "",
    "cl_khr_gl_msaa_sharing": "kernel void k(read_only image2d_msaa_t i, global float4* o) {"
    " o[0] = read_imagef(i, (int2)(0), 1); o[1].x = get_image_num_samples(i); }",
    "cl_khr_select_fprounding_mode": "",
    "cl_khr_byte_addressable_store": "kernel void k(global uchar* o, uchar a) { o[1] = a; }",
    "cl_khr_fp16": "kernel void k(global half* o, half a) {"
    " o[0] = fma(a, o[0], sin(o[1])); o[2] = convert_half_rtz(1.1f); }",
    "cl_khr_fp64": "kernel void k(global double* o, double a) { o[0] = fma(a, o[0], sin(o[1])); }",
    "cl_khr_3d_image_writes": "kernel void k(write_only image3d_t i, int4 p, float4 c, uint4 u) {"
    " write_imagef(i, p, c); }",
    "cl_khr_depth_images": "kernel void k(read_only image2d_depth_t i, sampler_t s, global float* o,"
    " write_only image2d_depth_t w) { o[0] = read_imagef(i, s, (float2)(0));"
    " write_imagef(w, (int2)(0), o[1]); }",
    "cl_khr_mipmap_image": "kernel void k(read_only image2d_t i, sampler_t s, global float4* o) {"
    " o[0] = read_imagef(i, s, (float2)(0), 1.0f);"
    " o[1] = read_imagef(i, s, (float2)(0), (float2)(1), (float2)(1));"
    " o[2].x = get_image_num_mip_levels(i); }",
    "cl_khr_mipmap_image_writes": "kernel void k(write_only image2d_t i, float4 c) {"
    " write_imagef(i, (int2)(0), 1, c); }",
    "cl_khr_srgb_image_writes": "",
    "cl_khr_global_int32_base_atomics": "kernel void k(global volatile int* o, int a) {"
    " o[1] = atom_add(o, a) + atom_inc(o) + atom_cmpxchg(o, 1, a); }",
    "cl_khr_global_int32_extended_atomics": "kernel void k(global volatile int* o, int a) {"
    " o[1] = atom_max(o, a) + atom_xor(o, a); }",
    "cl_khr_local_int32_base_atomics": "kernel void k(local volatile int* o, int a) {"
    " o[1] = atom_add(o, a) + atom_inc(o) + atom_cmpxchg(o, 1, a); }",
    "cl_khr_local_int32_extended_atomics": "kernel void k(local volatile int* o, int a) {"
    " o[1] = atom_max(o, a) + atom_xor(o, a); }",
    "cl_khr_int64_base_atomics": "kernel void k(global volatile long* o, long a,"
    " local volatile ulong* l) { o[1] = atom_add(o, a) + atom_inc(o) + atom_cmpxchg(o, 1, a);"
    " l[1] = atom_sub(l, 3ul) + atom_dec(l) + atom_xchg(l, 1ul); }",
    "cl_khr_int64_extended_atomics": "kernel void k(global volatile long* o, long a,"
    " local volatile ulong* l) { o[1] = atom_max(o, a) + atom_xor(o, a) + atom_and(o, a);"
    " l[1] = atom_min(l, 3ul) + atom_or(l, 3ul); }",
    "cl_khr_extended_bit_ops": INTEGER.format(
        "bitfield_insert(a, b, 1, 2) + bit_reverse(c) + bitfield_extract_unsigned(a, 2, 3)"
    ),
    "cl_khr_integer_dot_product": INTEGER.format(
        "dot(as_uchar4(a), as_uchar4(b)) + dot_4x8packed_uu_uint(a, b)"
        " + dot_acc_sat(as_uchar4(a), as_uchar4(b), c)"
    ),
    "cl_khr_kernel_clock": "kernel void k(global ulong* o) { o[0] = clock_read_device(); }",
    "cl_khr_subgroups": INTEGER.format(
        "get_sub_group_size() + sub_group_reduce_add(a) + sub_group_broadcast(a, 0)"
    ),
    "cl_khr_subgroup_extended_types": INTEGER.format(
        "sub_group_broadcast((uchar)a, 0) + sub_group_broadcast((uint2)(b), 0).x"
        " + sub_group_reduce_add((ushort)c)"
    ),
    "cl_khr_subgroup_non_uniform_vote": INTEGER.format(
        "sub_group_elect() + sub_group_non_uniform_all(a) + sub_group_non_uniform_all_equal(b)"
    ),
    "cl_khr_subgroup_ballot": INTEGER.format(
        "sub_group_ballot(a).x + sub_group_ballot_bit_count((uint4)(b))"
        " + sub_group_non_uniform_broadcast(c, 0) + get_sub_group_eq_mask().x"
    ),
    "cl_khr_subgroup_non_uniform_arithmetic": INTEGER.format(
        "sub_group_non_uniform_reduce_add(a) + sub_group_non_uniform_scan_inclusive_xor(b)"
    ),
    "cl_khr_subgroup_shuffle": INTEGER.format(
        "sub_group_shuffle(a, 1) + sub_group_shuffle_xor(b, 1)"
    ),
    "cl_khr_subgroup_shuffle_relative": INTEGER.format(
        "sub_group_shuffle_up(a, 1) + sub_group_shuffle_down(b, 1)"
    ),
    "cl_khr_subgroup_clustered_reduce": INTEGER.format("sub_group_clustered_reduce_add(a, 4)"),
    "cl_khr_subgroup_rotate": INTEGER.format(
        "sub_group_rotate(a, 1) + sub_group_clustered_rotate(b, 1, 4)"
    ),
    "cl_ext_float_atomics": "kernel void k(global volatile atomic_float* o, float a) {"
    " atomic_fetch_add_explicit(o, a, memory_order_relaxed, memory_scope_device);"
    " atomic_fetch_max_explicit(o, a, memory_order_relaxed, memory_scope_device); }",
    "cl_ext_image_raw10_raw12": "",
    "cl_amd_media_ops": INTEGER.format(
        "amd_bitalign(a, b, c) + amd_bytealign(a, b, c) + amd_lerp(a, b, c) + amd_sad(a, b, c)"
        " + amd_sadhi(a, b, c) + amd_sad4((uint4)(a), (uint4)(b), c) + amd_pack((float4)(1))"
        " + (uint)(amd_unpack0(a) + amd_unpack1(a) + amd_unpack2(a) + amd_unpack3(a))"
        " + amd_bitalign((uint4)(a), (uint4)(b), (uint4)(c)).x"
    ),
    "cl_amd_media_ops2": INTEGER.format(
        "amd_bfe(a, b, c) + amd_bfm(a, b) + amd_max3(a, b, c) + amd_min3(a, b, c)"
        " + amd_median3(a, b, c) + amd_msad(a, b, c) + amd_sadd(a, b, c) + amd_sadw(a, b, c)"
        " + (uint)amd_qsad(a, b, c) + (uint)amd_mqsad(a, b, c) + (uint)amd_max3(1.0f, 2.0f, (float)a)"
    ),
    "cl_arm_integer_dot_product_int8": INTEGER.format("arm_dot(as_uchar4(a), as_uchar4(b))"),
    "cl_arm_integer_dot_product_accumulate_int8": INTEGER.format(
        "arm_dot_acc(as_uchar4(a), as_uchar4(b), c)"
    ),
    "cl_arm_integer_dot_product_accumulate_int16": INTEGER.format(
        "arm_dot_acc(as_ushort2(a), as_ushort2(b), c)"
    ),
    "cl_arm_integer_dot_product_accumulate_saturate_int8": INTEGER.format(
        "arm_dot_acc_sat(as_uchar4(a), as_uchar4(b), c)"
    ),
    "cl_intel_subgroups": INTEGER.format(
        "intel_sub_group_shuffle(a, 1) + intel_sub_group_block_read(o)"
    ),
    "cl_intel_subgroups_short": INTEGER.format("intel_sub_group_shuffle((ushort)a, 1)"),
    "cl_intel_device_side_avc_motion_estimation": INTEGER.format(
        "intel_sub_group_avc_mce_get_default_inter_base_multi_reference_penalty(1, 1)"
    ),
    "cl_nv_pragma_unroll": "kernel void k(global int* o) {\n#pragma unroll 4\n"
    "for (int i = 0; i < 8; ++i) o[i] = i; }",
    # Features of OpenCL C 3.0
    "__opencl_c_3d_image_writes": "kernel void k(write_only image3d_t i, int4 p, float4 c) {"
    " write_imagef(i, p, c); }",
    "__opencl_c_atomic_order_acq_rel": ATOMIC.format(
        "memory_order_acq_rel, memory_scope_work_group"
    ),
    "__opencl_c_atomic_order_seq_cst": ATOMIC.format(
        "memory_order_seq_cst, memory_scope_work_group"
    ),
    "__opencl_c_atomic_scope_all_devices": ATOMIC.format(
        "memory_order_relaxed, memory_scope_all_svm_devices"
    ),
    "__opencl_c_atomic_scope_device": ATOMIC.format("memory_order_relaxed, memory_scope_device"),
    "__opencl_c_device_enqueue": "kernel void k(global int* o) {"
    " enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ o[0] = 1; }); }",
    "__opencl_c_fp64": "kernel void k(global double* o) { o[0] = sin(o[1]); }",
    "__opencl_c_generic_address_space": "int f(int* p) { return *p; }"
    "kernel void k(global int* o, local int* l) { o[0] = f(o) + f(l); }",
    "__opencl_c_images": "kernel void k(read_only image2d_t i, sampler_t s, global float4* o) {"
    " o[0] = read_imagef(i, s, (int2)(0)); }",
    "__opencl_c_int64": "kernel void k(global long* o) { o[0] = mad_hi(o[1], o[2], o[3]); }",
    "__opencl_c_named_address_space_builtins": "",  # of clang
    "__opencl_c_pipes": "kernel void k(read_only pipe int p, global int* o) { read_pipe(p, o); }",
    "__opencl_c_program_scope_global_variables": "global int variable = 1;"
    "kernel void k(global int* o) { o[0] = variable++; }",
    "__opencl_c_read_write_images": "kernel void k(read_write image2d_t i) {"
    " write_imagef(i, (int2)(0), read_imagef(i, (int2)(1))); }",
    "__opencl_c_subgroups": INTEGER.format("get_sub_group_size() + sub_group_reduce_add(a)"),
    "__opencl_c_work_group_collective_functions": INTEGER.format("work_group_reduce_add(a)"),
}
STANDARDS = ["", "-cl-std=CL1.2", "-cl-std=CL2.0", "-cl-std=CL3.0"]
WRAPPER = """#!/bin/bash
# Also writes the macros that the same command line defines.
words=()
for word in "$@"; do [[ $word == -emit-llvm* ]] || words+=("$word"); done
[[ $* == *-finclude-default-header* ]] && CLANG "${words[@]}" -E -dM -o MACROS 2> /dev/null
exec CLANG "$@"
"""


def messages(target, standard, texts, *options):
    """Returns the messages of oclcc; empty if it compiles each of `texts`."""
    files = [f"k{number}.cl" for number in range(len(texts))]
    for name, text in zip(files, texts):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    words = ["oclcc", "--color=never", "-q", *files, "--target", target, "-o", "k.clbin", *options]
    run = subprocess.run([*words, *filter(None, [standard])], capture_output=True, text=True)
    return run.stdout + run.stderr if run.returncode != 0 else ""


def macros_of(target, standard, clang):
    """Returns the extension macros that the target defines, with the compile that defines them."""
    macros = os.path.abspath("macros")
    with open("clang", "w", encoding="utf-8") as file:
        file.write(WRAPPER.replace("CLANG", clang).replace("MACROS", macros))
    os.chmod("clang", 0o755)
    if os.path.exists(macros):
        os.remove(macros)
    messages(target, standard, ["kernel void k() {}"], "--no-cache", "--tool", "clang=./clang")
    with open(macros, encoding="utf-8") as file:
        return sorted(re.findall(r"^#define (cl_\w+|__opencl_c_\w+)", file.read(), re.MULTILINE))


def named(word, kernel):
    """Returns a name with that of the kernel, because several are in one program."""
    text = word.group()
    return f"void {kernel}(" if text.startswith("void") else f"{kernel}_{text}"


def source_of(macro, kernel="k"):
    head = f"#ifndef {macro}\n#error not defined: {macro}\n#endif\n"
    body = KERNELS[macro] or "kernel void k() {}"
    if macro.startswith("__opencl_c_"):
        names = r"void k[(]|\bvariable\b|\bf[(]"
        return head + re.sub(names, lambda word: named(word, kernel), body) + "\n"
    return (
        f"{head}#pragma OPENCL EXTENSION {macro} : enable\n"
        f"{re.sub(r'void k[(]', f'void {kernel}(', body)}\n"
        f"#pragma OPENCL EXTENSION {macro} : disable\n"
    )


def check(target, standard, macros):
    """Prints a line for each macro that is wrong."""
    for macro in macros:
        if macro not in KERNELS:
            print(f"{target} {standard} {macro}: is not in this test's table")
    known = [macro for macro in macros if macro in KERNELS]
    # In one program, because a program takes clang longer to start than to compile. Their order has
    # no effect on what a macro announces, because each disables its extension again.
    whole = "".join(source_of(macro, f"k{number}") for number, macro in enumerate(known))
    problem = messages(target, standard, [whole])
    if not problem:
        return
    found = False
    for macro in known:
        if own := messages(target, standard, [source_of(macro)]):
            found = True
            first = own.strip().split("\n", 1)[0]
            print(f"{target} {standard} {macro}: {first}", flush=True)
    if not found:
        print(f"{target} {standard}, all together: {problem.strip()}", flush=True)


def main():
    tested = 0
    for pair in sys.argv[1:]:
        target, clang = pair.split("=")
        for standard in STANDARDS:
            if messages(target, standard, ["kernel void k() {}"]):
                continue  # the target does not have this version of the language
            macros = macros_of(target, standard, clang)
            tested += len(macros)
            check(target, standard, macros)
    if tested < 10:
        print(f"only {tested} macros were tested")


main()
