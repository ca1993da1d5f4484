#!/bin/bash
for i in $(seq 1 30); do touch "header$i.h"; echo "#include \"header$i.h\""; done > k.cl
echo 'kernel void k(global int* a) { *a = 1; }' >> k.cl
oclcc -M k.cl
