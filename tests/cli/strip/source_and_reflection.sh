#!/bin/bash
make_bundle sample s.clbin
oclcc --strip --strip-source --strip-reflection s.clbin -o b.clbin
oclcc --info b.clbin | grep -E "source|kernel"
grep -q TILE b.clbin || echo 'no source text'
# expected output:
#|   source    not kept
#|     kernel    add(...)
#|     kernel    multiply(...)
#|     kernel    add(...)
#|     kernel    multiply(...)
#|     kernel    add(...)
#|     kernel    multiply(...)
#|   source    not kept
#|     kernel    add(...)
#|     kernel    multiply(...)
#|     kernel    add(...)
#|     kernel    multiply(...)
#|   source    not kept
#|     kernel    add(...)
#|     kernel    multiply(...)
#|     kernel    add(...)
#|     kernel    multiply(...)
#| no source text
