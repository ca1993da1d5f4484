#!/bin/bash
# Tests of --import, with the real binaries and containers that unit tests and the fuzzer read.
"$ROOT/tests/fuzz/seeds.py" unpack . "$ROOT/tests/fuzz/corpus/containers.seeds"
cp "$ROOT"/tests/unit/format/binaries/* containers/* .
export OCL_ICD_VENDORS=/nonexistent OPENCL_VENDOR_PATH=/nonexistent

# Prints a line for each entry: program, variant, kind, target and kernels.
entries_of() {
  oclcc --info --json "$1" | python3 -c '
import json, sys
for group in json.load(sys.stdin)["bundles"][0]["groups"]:
    for entry in group["entries"]:
        target = entry["target"]
        print(group["program"], group["variant"], entry["format"]["kind"],
              target["spec"] or [target["device"], target["driver_version"]],
              [kernel["name"] for kernel in entry["kernels"]])'
}

### kinds
# Each kind names its target and its kernels, if it contains them, and --extract writes the same bytes.
for file in sm_50.nvcl.ptx sm_80.cubin arguments.gfx906.v5.o tgllp.zebin spec_constants.spv; do
  oclcc --import "k:$file" -o k.clbin && entries_of k.clbin && oclcc --verify k.clbin
  oclcc --extract k.clbin -o - | cmp - "$file"
done
oclcc --info -v k.clbin | grep constant | head -n 1
oclcc --import "arguments.gfx906.v5.o" -o k.clbin && oclcc --info -v k.clbin | grep -A 1 kernel | head -n 2
# expected output:
#| k default ptx nvptx:sm_50 ['add']
#| k default cubin cubin:sm_80 ['k']
#| k default amd-code-object amdgcn:gfx906 ['every_space', 'images', 'nothing']
#| k default intel-zebin intel:tgllp ['add']
#| k default spirv spirv:1.2:32 ['scale']
#|     constant  0: bool, default 0x1
#|     kernel    every_space(global const float* restrict in, global volatile uint* out, constant const uchar4* table, local float* scratch, int count, float4 v, pair p, global pair* ps, global scalar* s, ulong n, uchar z)
#|                 work-group of 8x4x2, at most 64, best in multiples of 64

### names
# The program is the stem, or given. A file that contains a colon or an equals sign has a slash before it.
cp "sm_50.nvcl.ptx" blur.ptx
cp blur.ptx a:b=c.ptx
oclcc --import blur.ptx other:blur.ptx third:nvptx:sm_50=blur.ptx ./a:b=c.ptx -o k.clbin && entries_of k.clbin
oclcc --import - -o k.clbin < "sm_80.cubin" && entries_of k.clbin
oclcc -v --import k:blur.ptx "k:sm_80.cubin" -o two.clbin
oclcc --import "k:sm_80.cubin" k:blur.ptx -o order.clbin && cmp two.clbin order.clbin
# expected output:
#| a:b=c default ptx nvptx:sm_50 ['add']
#| blur default ptx nvptx:sm_50 ['add']
#| other default ptx nvptx:sm_50 ['add']
#| third default ptx nvptx:sm_50 ['add']
#| stdin default cubin cubin:sm_80 ['k']
# expected errors:
#| blur.ptx: PTX 4.0 for sm_50 of program 'k', for 'nvptx:sm_50'
#| sm_80.cubin: cubin sm_80 of program 'k', for 'cubin:sm_80'

### containers
# Containers of real tools: each member becomes an entry, or those of a target do.
for file in fatbin_lz4 fatbin_zstd offload_bundle_zlib offload_bundle_zstd offload_binary ocloc_archive; do
  oclcc --import "k:$file" -o k.clbin; echo "$file: exit $?"; entries_of k.clbin
done
oclcc --import "k:intel:dg1=ocloc_archive" -o k.clbin && entries_of k.clbin
oclcc --import "k:amdgcn:gfx1030=offload_bundle_zstd" -o k.clbin &&
  oclcc --extract k.clbin -o - | cmp - "gfx1030.v4.co"
oclcc --import "k:cubin:sm_80=fatbin_zstd" -o k.clbin &&
  oclcc --extract k.clbin -o - | cmp - "sm_80.cubin"
# expected output:
#| fatbin_lz4: exit 0
#| k default ptx nvptx:sm_70 ['every_space', 'nothing']
#| fatbin_zstd: exit 0
#| k default ptx nvptx:sm_70 ['k']
#| k default cubin cubin:sm_80 ['k']
#| offload_bundle_zlib: exit 0
#| k default ptx nvptx:sm_70 ['k']
#| offload_bundle_zstd: exit 0
#| k default amd-code-object amdgcn:gfx1030 ['add']
#| offload_binary: exit 0
#| k default ptx nvptx:sm_70 ['k']
#| k default spirv spirv:1.0 ['add']
#| ocloc_archive: exit 0
#| k default intel-zebin intel:tgllp ['k']
#| k default intel-zebin intel:dg1 ['k']
#| k default intel-zebin intel:dg1 ['k']
# expected errors:
#| oclcc: warning: offload_bundle_zlib, 'hip-amdgcn-amd-amdhsa--gfx1030' is skipped: unknown binary

### damaged_members
# An error names the file, and the member of a fat binary. --report and a TARGET print it, too.
change() { # FILE NEW_FILE OFFSET BYTES…: replaces the bytes at OFFSET.
  python3 - "$@" << 'END'
import sys
old, new, offset, *values = sys.argv[1:]
data = bytearray(open(old, "rb").read())
data[int(offset) : int(offset) + len(values)] = bytes(int(value, 0) for value in values)
open(new, "wb").write(data)
END
}
# Of a member, the compressed bytes are at 16 + 16, the flags at 16 + 41, the raw bytes at 16 + 56.
change fatbin_lz4 short.fatbin 72 0x44 0x08
change fatbin_lz4 long.fatbin 72 0x46 0x08
change fatbin_lz4 huge.fatbin 72 0 0 0 0 0xff
change fatbin_lz4 beyond.fatbin 32 0xff 0xff
change fatbin_lz4 both.fatbin 57 0xa0
change fatbin_lz4 broken.fatbin 97 0xff 0xff 0xff 0xff 0xff 0xff
# Of a compressed bundle, the method is at 6, the raw bytes at 12.
change offload_bundle_zlib short.bundle 12 0x3f
change offload_bundle_zlib long.bundle 12 0x41
change offload_bundle_zlib huge.bundle 12 0xff 0xff 0xff 0x7f
change offload_bundle_zlib method.bundle 6 2
change offload_bundle_zlib broken.bundle 40 0xff 0xff 0xff 0xff 0xff 0xff
for file in *.fatbin *.bundle; do
  oclcc --import "$file" -o k.clbin; echo "exit $?"
done
oclcc --import nvptx:sm_70=broken.fatbin -o k.clbin; echo "exit $?"
oclcc --report broken.fatbin; echo "exit $?"
[ -e k.clbin ] || echo "no output"
# expected output:
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| exit 3
#| no output
# expected errors:
#| oclcc: error: beyond.fatbin: member 1: compressed data: 65535 bytes at 0 are not inside the 960 bytes that contain it
#| oclcc: error: both.fatbin: member 1: its flags 0xa011 declare both LZ4 and zstd
#| oclcc: error: broken.fatbin: member 1: the LZ4 block is damaged or contains more than 2117 bytes
#| oclcc: error: huge.fatbin: member 1: decompression: the call needs more than its limit of 33567104 raw bytes
#| oclcc: error: long.fatbin: member 1: the LZ4 block contains 2117 bytes, expected 2118
#| oclcc: error: short.fatbin: member 1: the LZ4 block is damaged or contains more than 2116 bytes
#| oclcc: error: broken.bundle: the zlib stream is damaged or incomplete, or contains more than 320 bytes
#| oclcc: error: huge.bundle: decompression: the call needs more than its limit of 33557648 raw bytes
#| oclcc: error: long.bundle: the zlib stream contains 320 bytes, expected 321
#| oclcc: error: method.bundle: a compressed offload bundle of version 2 with method 2, which oclcc does not know
#| oclcc: error: short.bundle: the zlib stream is damaged or incomplete, or contains more than 319 bytes
#| oclcc: error: broken.fatbin: member 1: the LZ4 block is damaged or contains more than 2117 bytes
#| oclcc: error: broken.fatbin: member 1: the LZ4 block is damaged or contains more than 2117 bytes

### targets
# A target is checked against the binary, and required if the binary does not name one.
oclcc --import "nvptx:sm_70=sm_50.nvcl.ptx" -o k.clbin; echo "exit $?"
oclcc --import "cubin:sm_90=fatbin_zstd" -o k.clbin; echo "exit $?"
oclcc --import "llvmpipe.rusticl" -o k.clbin; echo "exit $?"
oclcc --import "offload_bundle" -o k.clbin; echo "exit $?"
printf 'bytes of a phone' > phone.bin
oclcc --import phone.bin -o k.clbin; echo "exit $?"
oclcc --import "intel:tgllp=phone.bin" -o k.clbin; echo "exit $?"
oclcc --import "cpu=phone.bin" -o k.clbin; echo "exit $?"
oclcc --import "sm_50.cuda.ptx" -o k.clbin; echo "exit $?"
ls k.clbin
# expected output:
#| exit 3
#| exit 3
#| exit 3
#| exit 0
#| exit 3
#| exit 3
#| exit 5
#| exit 0
#| k.clbin
# expected errors:
#| oclcc: error: sm_50.nvcl.ptx: it contains no binary for 'nvptx:sm_70', but PTX 4.0 for sm_50 ('nvptx:sm_50')
#| oclcc: error: fatbin_zstd: it contains no binary for 'cubin:sm_90', but cubin sm_80 ('cubin:sm_80'), PTX 6.3 for sm_70 ('nvptx:sm_70')
#| oclcc: error: llvmpipe.rusticl: rusticl binary, format 1 does not name its device: name it, as TARGET=FILE
#| oclcc: warning: offload_bundle, 'hip-amdgcn-amd-amdhsa--gfx1030' is skipped: unknown binary
#| oclcc: error: phone.bin: unknown binary does not name its device: name it, as TARGET=FILE
#| oclcc: error: phone.bin: it contains no binary for 'intel:tgllp', but unknown binary
#| oclcc: error: phone.bin: no OpenCL device found: cannot load '/nonexistent': /nonexistent: cannot open shared object file: No such file or directory
#| oclcc: warning: sm_50.cuda.ptx: libclbin never loads PTX 4.0 for sm_50 (CUDA flavour): OpenCL requires '.target …, texmode_independent'

### phones
# A name and a driver identify the device of bytes that oclcc does not know.
printf 'bytes of a phone' > phone.bin
oclcc --import 'Adreno(TM) 740@E031.45.02.16=phone.bin' 'blur:Mali-G78@v1.r32p1-01eac0.ab:32=phone.bin' -o k.clbin
entries_of k.clbin
oclcc --info -v k.clbin | grep -A 2 entry
oclcc --extract k.clbin --program phone -o - | cmp - phone.bin
oclcc --import 'Adreno(TM) 7xx@E031.45.02.16=phone.bin' -o series.clbin
oclcc --import "Adreno(TM) 740@E031=sm_80.cubin" -o no.clbin; echo "exit $?"
oclcc --import "Adreno(TM) 740@=phone.bin" -o no.clbin; echo "exit $?"
# expected output:
#| blur default unknown ['Mali-G78', 'v1.r32p1-01eac0.ab'] []
#| phone default unknown ['Adreno(TM) 740', 'E031.45.02.16'] []
#|   entry     unknown binary
#|     device    Mali-G78
#|     driver    v1.r32p1-01eac0.ab
#| --
#|   entry     unknown binary
#|     device    Adreno(TM) 740
#|     driver    E031.45.02.16
#| exit 2
#| exit 2
# expected errors:
#| oclcc: warning: phone.bin: 'Adreno(TM) 7xx' is a series: a driver can reject the binary of another GPU, or crash the process; libclbin tries it only while it can record a crash in its cache directory
#| oclcc: error: sm_80.cubin: cubin sm_80 is not a binary of a device that NAME@DRIVER identifies
#| oclcc: error: phone.bin: 'Adreno(TM) 740@' is not NAME@DRIVER

### other_programs
# Files of other programs that are called .clbin are named.
printf 'GGMLCLBC\001\000\000\000\000\000\000\000bytes' > llama.clbin
printf 'bytes of Mali' > arm.clbin
for file in llama.clbin arm.clbin; do
  oclcc --info -v "$file"; echo "exit $?"
  oclcc --verify "$file"; echo "exit $?"
  oclcc --import "$file" -o k.clbin; echo "exit $?"
done
# expected output:
#| exit 4
#| exit 4
#| exit 3
#| exit 4
#| exit 4
#| exit 3
# expected errors:
#| oclcc: error: llama.clbin: not a bundle: it is a file of llama.cpp's cache of OpenCL programs
#| oclcc: error: llama.clbin: not a bundle: it is a file of llama.cpp's cache of OpenCL programs
#| oclcc: error: llama.clbin: it is a file of llama.cpp's cache of OpenCL programs
#| oclcc: error: arm.clbin: not a bundle: it starts with 62 79 74 65 73 20 6f 66
#| oclcc: error: arm.clbin: not a bundle: it starts with 62 79 74 65 73 20 6f 66
#| oclcc: error: arm.clbin: unknown binary does not name its device: name it, as TARGET=FILE; Arm Compute Library calls device binaries of its driver ".clbin"

### refused
cp "sm_50.nvcl.ptx" k.ptx
oclcc --import; echo "exit $?"
oclcc --import k.ptx; echo "exit $?"
for word in = k= =k.ptx :k.ptx k: k:=k.ptx :nvptx:sm_50=k.ptx; do
  oclcc --import "$word" -o k.clbin; echo "exit $?"
done
oclcc --import k.ptx missing.ptx "k:ocloc_archive" -o k.clbin; echo "exit $?"
oclcc --import k.ptx -o k.ptx; echo "exit $?"
oclcc --import k.ptx --merge -o k.clbin; echo "exit $?"
sed 's/entry/entrz/' k.ptx > none.ptx
oclcc --import none.ptx -o k.clbin; echo "exit $?"
sed 's/ret/ret ;/' k.ptx > other.ptx
oclcc --import k.ptx k:other.ptx -o k.clbin; echo "exit $?"
head -c 5000 ocloc_archive > cut.ar
oclcc --import cut.ar -o k.clbin; echo "exit $?"
[ -e k.clbin ] || echo "no output"
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 3
#| exit 2
#| exit 2
#| exit 3
#| exit 2
#| exit 3
#| no output
# expected errors:
#| oclcc: error: '--import' needs a device binary
#| oclcc: error: '--import' needs an output: name one with '-o'
#| oclcc: error: '--import' requires [PROGRAM:][TARGET=]FILE, not '='
#| oclcc: error: '--import' requires [PROGRAM:][TARGET=]FILE, not 'k='
#| oclcc: error: '--import' requires [PROGRAM:][TARGET=]FILE, not '=k.ptx'
#| oclcc: error: '--import' requires [PROGRAM:][TARGET=]FILE, not ':k.ptx'
#| oclcc: error: '--import' requires [PROGRAM:][TARGET=]FILE, not 'k:'
#| oclcc: error: '--import' requires [PROGRAM:][TARGET=]FILE, not 'k:=k.ptx'
#| oclcc: error: '--import' requires [PROGRAM:][TARGET=]FILE, not ':nvptx:sm_50=k.ptx'
#| oclcc: error: cannot open 'missing.ptx': No such file or directory
#| oclcc: error: 'k.ptx' is both an input and the output
#| oclcc: error: '--import' and '--merge' cannot be used together
#| oclcc: error: none.ptx: it has no kernel
#| oclcc: error: program 'k', variant 'default' has two different binaries of kind ptx for 'nvptx:sm_50'
#| oclcc: error: cut.ar: archive: member at offset 3232 needs 2967 bytes, 1768 are left
