#!/bin/bash
# Containers that the tools of this machine write: each member is extracted byte by byte.
binaries=$ROOT/tests/unit/format/binaries

# needs_tool NAME: skips the test unless the tool is installed.
needs_tool() {
  command -v "$1" > /dev/null || { echo "there is no $1"; exit 77; }
}

# compare FILE TARGET BINARY: the binary of TARGET in FILE has the bytes of BINARY.
compare() {
  oclcc --import "k:$2=$1" -o k.clbin && oclcc --extract k.clbin -o - > bytes
  cmp bytes "$3" && echo "$2"
}

### fatbinary
needs_tool fatbinary
needs_tool ptxas
# It changes comments of PTX. With the mode speed it uses LZ4, with size and balance zstd.
printf '.version 6.3\n.target sm_70, texmode_independent\n.address_size 64\n.entry k() { ret; }\n' > k.ptx
for mode in none size speed balance; do
  fatbinary --create=k.fatbin -64 --compress-all --compress-mode=$mode \
    --image3="kind=elf,sm=80,file=$binaries/sm_80.cubin" \
    --image3="kind=elf,sm=90,file=$binaries/sm_90.cubin" \
    --image3="kind=ptx,sm=70,file=k.ptx"
  compare k.fatbin cubin:sm_80 "$binaries/sm_80.cubin"
  compare k.fatbin cubin:sm_90 "$binaries/sm_90.cubin"
  compare k.fatbin nvptx:sm_70 k.ptx
done
# It compresses PTX that becomes smaller.
{ head -n 3 k.ptx && printf '.entry k%s() { ret; }\n' {1..40}; } > long.ptx
ptxas -arch sm_80 -o long.cubin long.ptx
for mode in speed size; do
  fatbinary --create=long.fatbin -64 --compress-all --compress-mode=$mode \
    --image3="kind=elf,sm=80,file=long.cubin" --image3="kind=ptx,sm=70,file=long.ptx"
  grep -qaF '.entry k39() { ret; }' long.fatbin && echo "it is not compressed"
  compare long.fatbin cubin:sm_80 long.cubin
  compare long.fatbin nvptx:sm_70 long.ptx
done
# A host object, which has the section .nv_fatbin.
head -c 100 /dev/zero > k.bin
ld -r -b binary -o k.o k.bin
objcopy --add-section .nv_fatbin=k.fatbin k.o host.o
oclcc --import host.o -o host.clbin && oclcc --info -v host.clbin | grep entry
# expected output:
#| cubin:sm_80
#| cubin:sm_90
#| nvptx:sm_70
#| cubin:sm_80
#| cubin:sm_90
#| nvptx:sm_70
#| cubin:sm_80
#| cubin:sm_90
#| nvptx:sm_70
#| cubin:sm_80
#| cubin:sm_90
#| nvptx:sm_70
#| cubin:sm_80
#| nvptx:sm_70
#| cubin:sm_80
#| nvptx:sm_70
#|   entry     PTX 6.3 for sm_70
#|   entry     cubin sm_80
#|   entry     cubin sm_90

### offload_bundler
needs_tool clang-offload-bundler
touch host
clang-offload-bundler -type=o -input=host -input="$binaries/arguments.gfx906.v5.o" \
  -input="$binaries/gfx1030.v4.co" -output=k.o \
  -targets=host-x86_64-unknown-linux-gnu,hip-amdgcn-amd-amdhsa--gfx906,hip-amdgcn-amd-amdhsa--gfx1030
compare k.o amdgcn:gfx906 "$binaries/arguments.gfx906.v5.o"
compare k.o amdgcn:gfx1030 "$binaries/gfx1030.v4.co"
# expected output:
#| amdgcn:gfx906
#| amdgcn:gfx1030

### ocloc
needs_tool ocloc
echo 'kernel void fill(global int* values) { values[get_global_id(0)] = 1; }' > fill.cl
ocloc compile -file fill.cl -device tgllp,dg1 --format zebin -output fill.ar > log || cat log
ocloc compile -file fill.cl -device dg1 --format zebin -output fill.bin -output_no_suffix > log || cat log
oclcc --import fill.ar -o fill.clbin && oclcc --info -v fill.clbin | grep -E 'entry|target|kernel'
compare fill.ar intel:dg1 fill.bin
# Debian 12's ocloc names a family of products only, which no device loads.
ocloc compile -file fill.cl -device dg2 --format zebin -output dg2.bin -output_no_suffix > log || cat log
oclcc --import dg2.bin -o k.clbin; echo "exit $?"
oclcc --import intel:dg1=dg2.bin -o k.clbin; echo "exit $?"
oclcc --import intel:dg2=dg2.bin -o k.clbin; echo "exit $?"
compare dg2.bin intel:acm-g10 dg2.bin
# expected output:
#|   entry     Intel zebin of product family 29
#|     target    intel:tgllp
#|     kernel    fill(global int* values)
#|   entry     Intel zebin of product family 1210
#|     target    intel:dg1
#|     kernel    fill(global int* values)
#| intel:dg1
#| exit 3
#| exit 3
#| exit 3
#| intel:acm-g10
# expected errors:
#| oclcc: error: dg2.bin: Intel zebin of product family 1270 does not name a target that oclcc lists: name it, as TARGET=FILE
#| oclcc: error: dg2.bin: it contains no binary for 'intel:dg1', but Intel zebin of product family 1270
#| oclcc: error: dg2.bin: it contains no binary for 'intel:dg2', but Intel zebin of product family 1270
