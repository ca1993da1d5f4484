"""Checks what `oclcc --info --json` reports of kernels for GPUs of AMD and Intel.

Usage: check_gpu_kernels.py INFO.json
"""

import json
import math
import sys

# From LLVM's AMDGPUUsage and the register tables of the instruction sets. Scalar registers include
# VCC, FLAT_SCRATCH and XNACK_MASK.
MAX_SCALAR_REGISTERS = {"gfx906": 112, "gfx90a": 112, "gfx1030": 128}
MAX_VECTOR_REGISTERS = {"gfx906": 256, "gfx90a": 512, "gfx1030": 256}
MAX_LOCAL_BYTES = 65536
WAVEFRONT = {"gfx906": 64, "gfx90a": 64, "gfx1030": 32}


def check_amd(processor, kernel):
    vendor = kernel["vendor"]
    assert 0 < vendor["sgprs"] <= MAX_SCALAR_REGISTERS[processor], kernel
    assert 0 < vendor["vgprs"] <= MAX_VECTOR_REGISTERS[processor], kernel
    assert kernel["preferred_multiple"] == WAVEFRONT[processor], kernel
    required = math.prod(kernel["required_work_group_size"] or [0])
    assert kernel["max_work_group_size"] == (required or 256), kernel


def check_intel(kernel):
    assert kernel["vendor"]["grf_count"] == 128, kernel
    assert kernel["preferred_multiple"] in (8, 16, 32), kernel


def check(entry):
    family, architecture = entry["target"]["spec"].split(":")
    if family == "amdgcn":
        assert entry["format"]["version"] == "4.0", entry["format"]
        assert {"clang", "lld"} <= entry["tools"].keys(), entry["tools"]
    else:
        assert entry["format"]["kind"] == "intel-zebin", entry["format"]
        assert "ocloc" in entry["tools"], entry["tools"]
    assert entry["kernels"], entry["target"]
    for kernel in entry["kernels"]:
        assert kernel["local_bytes"] <= MAX_LOCAL_BYTES, kernel
        assert kernel["argument_count"] == len(kernel["arguments"]), kernel
        for argument in kernel["arguments"]:
            assert argument["name"] and argument["type"], kernel
        if family == "amdgcn":
            check_amd(architecture, kernel)
        else:
            check_intel(kernel)


with open(sys.argv[1], encoding="utf-8") as file:
    for bundle in json.load(file)["bundles"]:
        for group in bundle["groups"]:
            for item in group["entries"]:
                check(item)
