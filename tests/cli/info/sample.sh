#!/bin/bash
make_bundle sample s.clbin
oclcc --info s.clbin
# expected output:
#| s.clbin: bundle of format 1.0, 7 entries, * bytes
#|   digest    *
#|
#| program 'matmul', variant 'default'
#|   options   none
#|   source    kept: 2 files, 78 bytes
#|   entry     PTX 7.5 for sm_50
#|     target    nvptx:sm_50
#|     size      261 bytes, * stored against another payload
#|     digest    e7fdb04d050b53520e0cc37a9c9a8eb98d587a9baf311f1eb0dde11c376ef513
#|     options   -DN=4
#|     kernel    add(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     kernel    multiply(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|   entry     PTX 7.5 for sm_70
#|     target    nvptx:sm_70
#|     size      261 bytes, * stored against another payload
#|     digest    fbf5a94137aebfff3e620b9e08b0c145690d28174c90c3fdc94e21ac030bd632
#|     options   -DN=4
#|     kernel    add(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     kernel    multiply(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|   entry     PoCL binary
#|     platform  Portable Computing Language
#|     device    cpu-a
#|     driver    3.1
#|     size      42 bytes, * stored
#|     digest    c452c4a3f1f4cadfe53dba8198229001a7b7cdf62f35210347cd5a945e751d7c
#|     options   -DN=4
#|     kernel    add(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     kernel    multiply(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     launch    the first launch of every kernel compiles; --specialize avoids it
#|
#| program 'matmul', variant 'fast'
#|   options   -cl-fast-relaxed-math
#|   source    kept: 2 files, 78 bytes
#|   entry     Portable Computing Language binary
#|     platform  Portable Computing Language
#|     device    cpu-a
#|     driver    3.1
#|     size      50 bytes, * stored
#|     digest    ba069486db55e934db41a2ef53707a2cf008cd055c63f1061f77a60b2d02e473
#|     options   -DN=4
#|     kernel    add(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     kernel    multiply(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     launch    the first launch of every kernel compiles; --specialize avoids it
#|   entry     PTX 7.5 for sm_70
#|     target    nvptx:sm_70
#|     size      261 bytes, * stored against another payload
#|     digest    fbf5a94137aebfff3e620b9e08b0c145690d28174c90c3fdc94e21ac030bd632
#|     options   -DN=4
#|     kernel    add(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     kernel    multiply(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|
#| program 'reduce', variant 'default'
#|   options   -DWIDTH=8
#|   source    not kept
#|   entry     PTX 7.5 for sm_80
#|     target    nvptx:sm_80
#|     size      261 bytes, * stored
#|     digest    9b80568e0262b72f84c10c4c558fc8155df02e10f70a94ddc98cb3020240d53d
#|     options   -DN=4
#|     kernel    add(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     kernel    multiply(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|   entry     PoCL binary
#|     platform  Portable Computing Language
#|     device    cpu-b
#|     driver    3.1
#|     size      42 bytes, * stored
#|     digest    c452c4a3f1f4cadfe53dba8198229001a7b7cdf62f35210347cd5a945e751d7c
#|     options   -DN=4
#|     kernel    add(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     kernel    multiply(global float* a, int n)
#|                 work-group of 16x16x1
#|                 2048 bytes of local memory
#|     launch    the first launch of every kernel compiles; --specialize avoids it
