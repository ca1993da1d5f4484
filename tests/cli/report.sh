#!/bin/bash
# Tests of --report.
binaries=$ROOT/tests/unit/format/binaries

# patch FROM TO IN OUT: replaces bytes, written as Python does.
patch() {
  python3 -c '
import ast, sys
old, new = (ast.literal_eval(f"b\"{word}\"") for word in sys.argv[1:3])
data = open(sys.argv[3], "rb").read()
assert old in data and len(old) == len(new)
open(sys.argv[4], "wb").write(data.replace(old, new))' "$@"
}

### against
# Each limit is exceeded by more than it allows, and by no less. A file with itself has no differences.
cp "$binaries/gfx1030.v4.co" old.co
patch '.vgpr_count\x02' '.vgpr_count\x50' old.co registers.co
patch '.sgpr_count\x06' '.sgpr_count\x07' old.co scalar.co
patch '.vgpr_spill_count\x00' '.vgpr_spill_count\x03' old.co spills.co
patch 'private_segment_fixed_size\x00' 'private_segment_fixed_size\x10' old.co scratch.co
patch 'group_segment_fixed_size\x00' 'group_segment_fixed_size\x40' old.co local.co
# try LIMITS FILE
try() { echo "$1"; oclcc --report "$2" --against old.co --fail-on "$1"; echo "exit $?"; }
try spills,scratch,registers+10%,size+5%,occupancy-1 old.co
try registers+3900% registers.co
try registers+3899% registers.co
try registers+77 registers.co
try registers,occupancy-16 registers.co
try occupancy-15 registers.co
try occupancy-25% registers.co
try occupancy-24% registers.co
try scalar-registers scalar.co
try spills+3 spills.co
try spills spills.co
try scratch scratch.co
try local+63 local.co
try registers,spills,scratch,size,constant,occupancy local.co
echo "the bundles"
oclcc --import k:amdgcn:gfx1030=old.co -o old.clbin
oclcc --import k:amdgcn:gfx1030=spills.co -o new.clbin
oclcc --report new.clbin --against old.clbin; echo "exit $?"
oclcc --report new.clbin --against old.clbin --fail-on spills; echo "exit $?"
oclcc --report old.clbin --against old.clbin --fail-on spills,size
# expected output:
#| spills,scratch,registers+10%,size+5%,occupancy-1
#| exit 0
#| registers+3900%
#| --- old.co
#| +++ registers.co
#|     kernel  target          number     before  after  change
#|     add     amdgcn:gfx1030  registers       2     80  +3900%
#|     add     amdgcn:gfx1030  occupancy      64     48    -25%
#| exit 0
#| registers+3899%
#| --- old.co
#| +++ registers.co
#|     kernel  target          number     before  after  change
#|     add     amdgcn:gfx1030  registers       2     80  +3900%  exceeds +3899%
#|     add     amdgcn:gfx1030  occupancy      64     48    -25%
#| exit 1
#| registers+77
#| --- old.co
#| +++ registers.co
#|     kernel  target          number     before  after  change
#|     add     amdgcn:gfx1030  registers       2     80  +3900%  exceeds +77
#|     add     amdgcn:gfx1030  occupancy      64     48    -25%
#| exit 1
#| registers,occupancy-16
#| --- old.co
#| +++ registers.co
#|     kernel  target          number     before  after  change
#|     add     amdgcn:gfx1030  registers       2     80  +3900%  exceeds +0
#|     add     amdgcn:gfx1030  occupancy      64     48    -25%
#| exit 1
#| occupancy-15
#| --- old.co
#| +++ registers.co
#|     kernel  target          number     before  after  change
#|     add     amdgcn:gfx1030  registers       2     80  +3900%
#|     add     amdgcn:gfx1030  occupancy      64     48    -25%  exceeds -15
#| exit 1
#| occupancy-25%
#| --- old.co
#| +++ registers.co
#|     kernel  target          number     before  after  change
#|     add     amdgcn:gfx1030  registers       2     80  +3900%
#|     add     amdgcn:gfx1030  occupancy      64     48    -25%
#| exit 0
#| occupancy-24%
#| --- old.co
#| +++ registers.co
#|     kernel  target          number     before  after  change
#|     add     amdgcn:gfx1030  registers       2     80  +3900%
#|     add     amdgcn:gfx1030  occupancy      64     48    -25%  exceeds -24%
#| exit 1
#| scalar-registers
#| --- old.co
#| +++ scalar.co
#|     kernel  target          number            before  after  change
#|     add     amdgcn:gfx1030  scalar registers       6      7    +17%  exceeds +0
#| exit 1
#| spills+3
#| --- old.co
#| +++ spills.co
#|     kernel  target          number  before  after  change
#|     add     amdgcn:gfx1030  spills       0      3
#| exit 0
#| spills
#| --- old.co
#| +++ spills.co
#|     kernel  target          number  before  after  change
#|     add     amdgcn:gfx1030  spills       0      3          exceeds +0
#| exit 1
#| scratch
#| --- old.co
#| +++ scratch.co
#|     kernel  target          number         before  after  change
#|     add     amdgcn:gfx1030  scratch bytes       0     16          exceeds +0
#| exit 1
#| local+63
#| --- old.co
#| +++ local.co
#|     kernel  target          number       before  after  change
#|     add     amdgcn:gfx1030  local bytes       0     64          exceeds +63
#| exit 1
#| registers,spills,scratch,size,constant,occupancy
#| --- old.co
#| +++ local.co
#|     kernel  target          number       before  after  change
#|     add     amdgcn:gfx1030  local bytes       0     64
#| exit 0
#| the bundles
#| --- old.clbin
#| +++ new.clbin
#| program 'k', variant 'default'
#|     kernel  target          number  before  after  change
#|     add     amdgcn:gfx1030  spills       0      3
#| exit 0
#| --- old.clbin
#| +++ new.clbin
#| program 'k', variant 'default'
#|     kernel  target          number  before  after  change
#|     add     amdgcn:gfx1030  spills       0      3          exceeds +0
#| exit 1
# expected errors:
#| registers.co: error: kernel 'add', 'amdgcn:gfx1030': registers changed from 2 to 80, which exceeds +3899%
#| registers.co: error: kernel 'add', 'amdgcn:gfx1030': registers changed from 2 to 80, which exceeds +77
#| registers.co: error: kernel 'add', 'amdgcn:gfx1030': registers changed from 2 to 80, which exceeds +0
#| registers.co: error: kernel 'add', 'amdgcn:gfx1030': occupancy changed from 64 to 48, which exceeds -15
#| registers.co: error: kernel 'add', 'amdgcn:gfx1030': occupancy changed from 64 to 48, which exceeds -24%
#| scalar.co: error: kernel 'add', 'amdgcn:gfx1030': scalar registers changed from 6 to 7, which exceeds +0
#| spills.co: error: kernel 'add', 'amdgcn:gfx1030': spills changed from 0 to 3, which exceeds +0
#| scratch.co: error: kernel 'add', 'amdgcn:gfx1030': scratch bytes changed from 0 to 16, which exceeds +0
#| local.co: error: kernel 'add', 'amdgcn:gfx1030': local bytes changed from 0 to 64, which exceeds +63
#| oclcc: warning: local.co: 'constant' is not known of any kernel, so that '--fail-on constant' checks nothing
#| new.clbin: error: program 'k', variant 'default', kernel 'add', 'amdgcn:gfx1030': spills changed from 0 to 3, which exceeds +0

### against_added
# Kernels that one file has are differences. What an added one spills exceeds a limit.
patch '.vgpr_spill_count\x00' '.vgpr_spill_count\x03' "$binaries/gfx1030.v4.co" spills.co
oclcc --import k:cubin:sm_80="$binaries/sm_80.cubin" -o old.clbin
oclcc --import k:cubin:sm_80="$binaries/sm_80.cubin" k:amdgcn:gfx1030=spills.co -o new.clbin
oclcc --report new.clbin --against old.clbin --fail-on registers,scratch,spills; echo "exit $?"
oclcc --report old.clbin --against new.clbin --fail-on registers,scratch,spills; echo "exit $?"
# expected output:
#| --- old.clbin
#| +++ new.clbin
#| program 'k', variant 'default'
#|     kernel  target          number  before  after  change
#|     add     amdgcn:gfx1030  kernel       0      1   added
#|     add     amdgcn:gfx1030  spills       0      3          exceeds +0
#| exit 1
#| --- new.clbin
#| +++ old.clbin
#| program 'k', variant 'default'
#|     kernel  target          number  before  after   change
#|     add     amdgcn:gfx1030  kernel       1      0  removed
#| exit 0
# expected errors:
#| new.clbin: error: program 'k', variant 'default', kernel 'add', 'amdgcn:gfx1030': spills changed from 0 to 3, which exceeds +0
#| oclcc: warning: old.clbin: 'spills' is not known of any kernel, so that '--fail-on spills' checks nothing

### against_documents
# JSON, comma-separated values and SARIF.
patch '.vgpr_spill_count\x00' '.vgpr_spill_count\x03' "$binaries/gfx1030.v4.co" new.co
cp "$binaries/gfx1030.v4.co" old.co
oclcc --report new.co --against old.co --fail-on spills --json > out.json 2> /dev/null; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/report.schema.json" < out.json
python3 -c '
import json
document = json.load(open("out.json"))
print(document["against"], document["differences"])'
oclcc --report new.co --against old.co --fail-on spills --csv 2> /dev/null
oclcc --report new.co --against old.co --fail-on spills --diagnostics-format sarif 2> out.sarif
python3 -c '
import json
run = json.load(open("out.sarif"))["runs"][0]
for result in run["results"]:
    print(result["level"], result["message"]["text"],
          result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
print(run["invocations"][0]["executionSuccessful"])'
# expected output:
#| exit 1
#| fits the schema
#| old.co [{'after': 3, 'before': 0, 'exceeds': '+0', 'format': 'amd-code-object', 'kernel': 'add', 'number': 'spills', 'program': '', 'target': 'amdgcn:gfx1030', 'variant': ''}]
#| program,variant,kernel,target,format,number,before,after,exceeds
#| ,,add,amdgcn:gfx1030,amd-code-object,spills,0,3,+0
#| --- old.co
#| +++ new.co
#|     kernel  target          number  before  after  change
#|     add     amdgcn:gfx1030  spills       0      3          exceeds +0
#| error kernel 'add', 'amdgcn:gfx1030': spills changed from 0 to 3, which exceeds +0 new.co
#| False

### bundle
# The numbers of a bundle are those of its binaries. The occupancy is that of the required work-group
# size. These binaries of Intel and AMD lack parts of their files.
oclcc --import "args:cubin:sm_80=$binaries/arguments.sm_80.cubin" \
  "args:amdgcn:gfx906=$binaries/arguments.gfx906.v5.o" \
  "args:intel:tgllp=$binaries/arguments.tgllp.zebin" "args:spirv:1.0=$binaries/arguments.spv" \
  "args:nvptx:sm_70=$binaries/arguments.sm_70.nvcl.ptx" "add:spirv:1.0=$binaries/kernel.spv" -o k.clbin
oclcc --report k.clbin
echo "selected"
oclcc --report k.clbin --program args --kernel nothing --keep-target 'cubin:*' --keep-target intel
oclcc --report k.clbin --drop-target '*' ; echo "exit $?"
oclcc --report k.clbin --kernel absent --program args; echo "exit $?"
# expected output:
#| k.clbin
#|
#| program 'add', variant 'default'
#|                instrs
#|   add
#|     spirv:1.0  10
#|
#| program 'args', variant 'default'
#|                    wave  regs  scalar  spills  scratch  local  const  code  instrs  occupancy
#|   every_space, work-groups of 8x4x2
#|     nvptx:sm_70       -     -       -       -        -    256      -     -      43  -
#|     cubin:sm_80      32    16       -       -        0    256    473   768       -  64/64 waves
#|     amdgcn:gfx906    64    45      67       0    16384    256      -     -       -  20/40 registers
#|     intel:tgllp      32   128       -       0        0    256      -     -       -  112/112 waves
#|     spirv:1.0         -     -       -       -        -      -      -     -      35  -
#|   images, work-groups of 256x1x1 assumed
#|     amdgcn:gfx906    64    45      54       0    16384      0      -     -       -  20/40 registers
#|     intel:tgllp      16   128       -       0        0      0      -     -       -  112/112 waves
#|     spirv:1.0         -     -       -       -        -      -      -     -       9  -
#|   nothing, work-groups of 256x1x1 assumed
#|     nvptx:sm_70       -     -       -       -        -      0      -     -       1  -
#|     cubin:sm_80      32     4       -       -        0      0    352   256       -  64/64 waves
#|     amdgcn:gfx906    64     0       0       0        0      0      -     -       -  40/40 waves
#|     intel:tgllp      32   128       -       0        0      0      -     -       -  112/112 waves
#|     spirv:1.0         -     -       -       -        -      -      -     -       3  -
#| selected
#| k.clbin
#|
#| program 'args', variant 'default'
#|                  wave  regs  spills  scratch  local  const  code  occupancy
#|   nothing, work-groups of 256x1x1 assumed
#|     cubin:sm_80    32     4       -        0      0    352   256  64/64 waves
#|     intel:tgllp    32   128       0        0      0      -     -  112/112 waves
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: k.clbin: no kernel matches the selection, or there is none
#| oclcc: error: k.clbin: no kernel matches the selection, or there is none

### csv
cp "$binaries/arguments.sm_80.cubin" .
oclcc --report arguments.sm_80.cubin --csv
# expected output:
#| file,program,variant,kernel,target,format,wave_size,registers,scalar_registers,spills,scratch_bytes,local_bytes,constant_bytes,code_bytes,instructions,work_group_size,work_group_origin,occupancy,max_waves,limited_by
#| arguments.sm_80.cubin,,,every_space,cubin:sm_80,cubin,32,16,,,0,256,473,768,,8x4x2,required,64,64,waves
#| arguments.sm_80.cubin,,,nothing,cubin:sm_80,cubin,32,4,,,0,0,352,256,,256x1x1,assumed,64,64,waves

### damaged
# Errors name the file and the part; other files are listed.
cp "$binaries/sm_80.cubin" good.cubin
cp "$binaries/oclgrind.bc" .
echo 'kernel void k() {}' > k.cl
: > empty
head -c 300 "$binaries/gfx1030.v4.co" > cut.co
make_bundle sample s.clbin
head -c 2000 s.clbin > cut.clbin
for file in k.cl empty cut.co cut.clbin absent.clbin oclgrind.bc; do
  oclcc --report good.cubin "$file" > out; echo "exit $?, $(wc -l < out) lines"
done
oclcc --report k.cl good.cubin --json > out.json 2> /dev/null; echo "exit $?"
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/report.schema.json" < out.json
# expected output:
#| exit 3, 4 lines
#| exit 3, 4 lines
#| exit 3, 4 lines
#| exit 4, 4 lines
#| exit 3, 4 lines
#| exit 3, 4 lines
#| exit 3
#| fits the schema
# expected errors:
#| oclcc: error: k.cl: oclcc reads no kernels of unknown binary
#| oclcc: note: 'k.cl' looks like OpenCL source: compile it first: oclcc k.cl
#| oclcc: error: empty: it contains no device binary
#| oclcc: error: cut.co: oclcc reads no kernels of unknown binary
#| oclcc: error: cut.clbin: prefix: total_bytes is 3816, but only 2000 bytes are present
#| oclcc: error: cannot open 'absent.clbin': No such file or directory
#| oclcc: error: oclgrind.bc: LLVM bitcode contains neither machine code nor the resources of its kernels; '--disassemble' prints its instructions

### expanding
# A bundle whose payload is far larger than the bundle is refused: a reader would need much memory.
python3 -c '
print(".version 6.3\n.target sm_70, texmode_independent\n.address_size 64\n"
      + " " * 3000000 + ".entry k() { ret; }")' > k.ptx
oclcc --import k.ptx -o k.clbin
oclcc --report k.clbin; echo "exit $?"
oclcc --report k.ptx
# expected output:
#| exit 4
#| k.ptx
#|                  local  instrs
#|   k
#|     nvptx:sm_70      0  1
# expected errors:
#| oclcc: error: k.clbin: PTX 6.3 for sm_70 has 3000085 bytes, and its kernels are read up to 1069824 in a bundle of 1328 bytes: extract it with '--extract'

### files
# Device binaries that are no bundle.
cd "$binaries" || exit
oclcc --report sm_90a.cubin gfx90a-no-xnack.v4.co tgllp.zebin kernel.spv sm_50.nvcl.ptx
# expected output:
#| sm_90a.cubin
#|                   wave  regs  scratch  local  const  code  occupancy
#|   k, work-groups of 256x1x1 assumed
#|     cubin:sm_90a    32     8        0      0    536   256  64/64 waves
#|
#| gfx90a-no-xnack.v4.co
#|                           wave  regs  scalar  spills  scratch  local  code  occupancy
#|   add, work-groups of 256x1x1 assumed
#|     amdgcn:gfx90a:xnack-    64     2       6       0        0      0    56  32/32 waves
#|
#| tgllp.zebin
#|                  wave  regs  spills  scratch  local  code  occupancy
#|   add, work-groups of 256x1x1 assumed
#|     intel:tgllp    32   128       0        0      0   448  112/112 waves
#|
#| kernel.spv
#|                instrs
#|   add
#|     spirv:1.0  10
#|
#| sm_50.nvcl.ptx
#|                  local  instrs
#|   add
#|     nvptx:sm_50      0  6

### containers
# The members of a container are listed by their place; - is standard input.
cp "$binaries/gfx1030.v4.co" a.co
cp "$binaries/tgllp.zebin" b.zebin
ar rc k.a a.co b.zebin
oclcc --report - < k.a
oclcc --report - --keep-target intel < k.a
# expected output:
#| <stdin>
#|
#| 'a.co'
#|                     wave  regs  scalar  spills  scratch  local  code  occupancy
#|   add, work-groups of 256x1x1 assumed
#|     amdgcn:gfx1030    32     2       6       0        0      0    56  64/64 waves
#|
#| 'b.zebin'
#|                  wave  regs  spills  scratch  local  code  occupancy
#|   add, work-groups of 256x1x1 assumed
#|     intel:tgllp    32   128       0        0      0   448  112/112 waves
#| <stdin>
#|
#| 'b.zebin'
#|                  wave  regs  spills  scratch  local  code  occupancy
#|   add, work-groups of 256x1x1 assumed
#|     intel:tgllp    32   128       0        0      0   448  112/112 waves

### hostile_names
# Names cannot control the terminal, and stay single cells.
sed 's/\.entry [a-z_]*/.entry k/' "$binaries/sm_50.nvcl.ptx" > 'a",b.ptx'
oclcc --report 'a",b.ptx' --csv | tail -n 1
cp "$binaries/sm_80.cubin" $'a\e[31m.cubin'
oclcc --report $'a\e[31m.cubin'
# expected output:
#| "a"",b.ptx",,,k,nvptx:sm_50,ptx,,,,,,0,,,6,,,,,
#| a?[31m.cubin
#|                  wave  regs  scratch  local  const  code  occupancy
#|   k, work-groups of 256x1x1 assumed
#|     cubin:sm_80    32     8        0      0    360   256  64/64 waves

### json
cp "$binaries/arguments.sm_80.cubin" .
oclcc --report arguments.sm_80.cubin --kernel every_space --json > out.json
python3 "$CLI_TESTS/check_schema.py" "$ROOT/oclcc/schema/report.schema.json" < out.json
cat out.json
# expected output:
#| fits the schema
#| {
#|   "files": [
#|     {
#|       "errors": [],
#|       "file": "arguments.sm_80.cubin",
#|       "groups": [
#|         {
#|           "bytes": 5344,
#|           "digest": "c9786ce2774b874209761da319e514e31e482384542f0c116ca303fd056253bd",
#|           "kernels": [
#|             {
#|               "code_bytes": 768,
#|               "constant_bytes": 473,
#|               "format": "cubin",
#|               "instructions": null,
#|               "kernel": "every_space",
#|               "limited_by": "waves",
#|               "local_bytes": 256,
#|               "max_waves": 64,
#|               "occupancy": 64,
#|               "registers": 16,
#|               "scalar_registers": null,
#|               "scratch_bytes": 0,
#|               "spills": null,
#|               "target": "cubin:sm_80",
#|               "wave_size": 32,
#|               "work_group_origin": "required",
#|               "work_group_size": [
#|                 8,
#|                 4,
#|                 2
#|               ]
#|             }
#|           ],
#|           "program": "",
#|           "variant": ""
#|         }
#|       ]
#|     }
#|   ],
#|   "version": 1
#| }

### pocl
# The shared objects that PoCL keeps in its cache, and a binary of PoCL, with objects for two sizes of
# work-groups: the larger function counts, as readelf shows it.
cat > k.c << 'END'
void _pocl_kernel_fill_workgroup(int *a) { a[0] = 1; }
void other(void) {}
END
gcc -shared -O1 -fPIC -o fill.so k.c
sed 's/a\[0\] = 1;/& a[2] = 3; a[a[4]] = 5;/; s/other/_pocl_kernel_add_workgroup/' k.c > more.c
gcc -shared -O1 -fPIC -o more.so more.c
{ printf 'poclbin\0DEVICE..\11\0\0\0/fill/0-0-0/fill.so' && cat more.so fill.so; } > k.poclbin
oclcc --report fill.so | sed 's/[0-9][0-9]*$/BYTES/'
oclcc --report k.poclbin --kernel fill --csv | cut -d , -f 4-6,14 > table
readelf -sW more.so | awk '$8 == "_pocl_kernel_fill_workgroup" {print "fill,PoCL,poclbin," $3; exit}' |
  diff - <(tail -n 1 table) && echo "the same"
head -c 300 k.poclbin > cut.poclbin
oclcc --report k.poclbin --keep-target PoCL | head -n 4; oclcc --report cut.poclbin; echo "exit $?"
# expected output:
#| fill.so
#|           code
#|   fill
#|     PoCL  BYTES
#| the same
#| k.poclbin
#|           code
#|   add
#|     PoCL  1
#| exit 3
# expected errors:
#| oclcc: error: cut.poclbin: oclcc reads no kernels of PoCL binary, format 9
