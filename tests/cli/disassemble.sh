#!/bin/bash
# shellcheck disable=SC2016 # scripts that the tests write
# Tests of --disassemble and -S.

two_kernels() {
  cat > k.cl <<'END'
kernel void add(global int* a, int n) { a[get_global_id(0)] += n; }
kernel void multiply(global int* a, int n) { a[get_global_id(0)] *= n; }
END
}

### one_binary
# Requires the selection of one binary, and says which there are.
make_bundle sample s.clbin
oclcc --disassemble s.clbin; echo "exit $?"
oclcc --disassemble s.clbin --program nothing; echo "exit $?"
oclcc --disassemble s.clbin --program matmul --variant fast --keep-target cpu; echo "exit $?"
oclcc --disassemble s.clbin s.clbin; echo "exit $?"
oclcc --disassemble s.clbin -o s.clbin --program reduce --keep-target sm_80; echo "exit $?"
oclcc --disassemble missing.clbin; echo "exit $?"
oclcc --disassemble s.clbin --program reduce --keep-target sm_80 --kernel absent; echo "exit $?"
# expected output:
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 2
#| exit 3
#| exit 2
# expected errors:
#| oclcc: error: s.clbin: it contains 7 binaries that match, such as 'matmul' (default) for 'nvptx:sm_50' and 'matmul' (default) for 'nvptx:sm_70'; select one with '--program', '--variant' and '--keep-target'
#| oclcc: error: s.clbin: there is no program 'nothing'; there are 'matmul', 'reduce'
#| oclcc: error: s.clbin: no program that disassembles it is known: unknown binary
#| oclcc: error: '--disassemble' accepts one file, not 2
#| oclcc: error: 's.clbin' is both an input and the output
#| oclcc: error: cannot open 'missing.clbin': No such file or directory
#| oclcc: error: s.clbin: PTX 7.5 for sm_80 contains no instructions of a kernel 'absent'

### ptx
# PTX is printed as it is, without the NUL of NVIDIA's driver, in whole or one kernel of it. - is
# standard input, with a bundle or another file; a pipe has either, too.
cat > k.ptx <<'END'
.version 7.0
.target sm_70, texmode_independent
.address_size 64

.visible .entry add(
	.param .u64 .ptr .global .align 4 add_param_0
)
{
	{ // callseq
	}
	ret;
}
.visible .entry add_more()
{
	ret;
}
END
oclcc --import k.ptx -o k.clbin
oclcc --disassemble k.clbin | cmp - k.ptx
{ cat k.ptx && printf '\0'; } > nul.ptx
oclcc --disassemble nul.ptx -o k.txt && cmp k.txt k.ptx
oclcc --disassemble - < k.clbin | cmp - k.ptx && oclcc --disassemble - < k.ptx | cmp - k.ptx
oclcc --disassemble <(cat k.clbin) | cmp - k.ptx && echo "from pipes"
head -c 300 k.clbin | oclcc --disassemble -; echo "exit $?"
oclcc --disassemble k.clbin --kernel add_more
oclcc --disassemble k.ptx --kernel add -o - | sed -n '1p;$p'
oclcc --disassemble k.ptx --kernel ad; echo "exit $?"
# expected output:
#| from pipes
#| exit 4
#| .visible .entry add_more()
#| {
#| 	ret;
#| }
#| .visible .entry add(
#| }
#| exit 2
# expected errors:
#| oclcc: error: <stdin>: prefix: total_bytes is *, but only 300 bytes are present
#| oclcc: error: k.ptx: PTX 7.0 for sm_70 contains no instructions of a kernel 'ad'

### tools
# A missing program is exit status 5, and --tool names another one. What it prints is shown without
# control characters.
printf '#!/bin/sh\nprintf "//---- .text.add ----\\n\\033[31mIADD;\\n//---- .text.multiply ----\\nIMUL;\\n//------ .rest\\n"\n' > nvdisasm
printf '#!/bin/sh\necho "nvdisasm fatal: Unsupported machine" >&2\nexit 1\n' > failing
chmod +x nvdisasm failing
python3 - <<'END'
import struct
# The header of a cubin for sm_80, with a table of one section.
header = b"\x7fELF\2\1\1\x33\7" + bytes(7)
header += struct.pack("<HHIQQQIHHHHHH", 2, 190, 128, 0, 0, 64, 0x500550, 64, 0, 0, 64, 1, 0)
open("k.cubin", "wb").write(header + bytes(64))
END
oclcc=$(command -v oclcc)
PATH=/nonexistent "$oclcc" --disassemble k.cubin --tool clang=nvdisasm; echo "exit $?"
oclcc --disassemble k.cubin --tool nvdisasm=./nvdisasm --kernel add; echo "exit $?"
oclcc --disassemble k.cubin --tool nvdisasm=./nvdisasm --kernel multiply -o k.sass && cat k.sass
oclcc --disassemble k.cubin --tool nvdisasm=./nvdisasm --kernel other; echo "exit $?"
oclcc --disassemble k.cubin --tool nvdisasm=./failing; echo "exit $?"
oclcc --disassemble k.cubin --tool objdump=./failing; echo "exit $?"
head -c 100 /dev/zero > k.unknown
oclcc --disassemble k.unknown; echo "exit $?"
# expected output:
#| exit 5
#| //---- .text.add ----
#| ?[31mIADD;
#| //---- .text.multiply ----
#| IMUL;
#| exit 0
#| //---- .text.multiply ----
#| IMUL;
#| exit 2
#| exit 6
#| exit 2
#| exit 2
# expected errors:
#| oclcc: error: k.cubin: '--disassemble' needs programs that are not installed: nvdisasm
#| oclcc: error: k.cubin: cubin sm_80 contains no instructions of a kernel 'other'
#| oclcc: error: k.cubin: nvdisasm ended with 1: nvdisasm fatal: Unsupported machine
#| oclcc: error: k.cubin: '--tool objdump=./failing': the tools are clang, iga, lld, llvm-dis, llvm-objdump, llvm-spirv, nvdisasm, ocloc, ptxas, rocm-device-libs, spirv-dis, spirv-val
#| oclcc: error: k.unknown: no program that disassembles it is known: unknown binary

### offline
# The vendors' programs know the code of each family; -S prints that of a source. With -g, lines of
# the source are in it.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs amdgcn:gfx900
needs spirv:1.2
two_kernels
oclcc k.cl --target amdgcn:gfx900 --target spirv:1.2 --target nvptx:sm_70 -g -o k.clbin || exit 1
oclcc --disassemble k.clbin --keep-target gfx900 --kernel multiply > amd.s
grep -o '<multiply>:\|<add>:\|kernel\.cl:2$\|v_mul_lo_u32\|s_endpgm' amd.s | sort -u
oclcc k.cl --target amdgcn:gfx900 -S -o - | grep -c s_endpgm
oclcc --disassemble k.clbin --keep-target gfx900 --kernel nothing; echo "exit $?"
oclcc --disassemble k.clbin --keep-target spirv --kernel add | grep -o 'OpFunction \|OpFunctionEnd\|OpIAdd\|OpIMul' | sort -u
oclcc k.cl --target nvptx:sm_70 --emit asm && grep -c '\.entry' k.asm
oclcc k.cl --target nvptx:sm_70 -g -S -o - | grep -o '\.file.*\|kernel\.cl:2' | sort -u
oclcc k.cl --target spirv:1.2 --target nvptx:sm_70 -S -o all.asm; echo "exit $?"
# expected output:
#| <multiply>:
#| kernel.cl:2
#| s_endpgm
#| v_mul_lo_u32
#| 2
#| exit 2
#| OpFunction 
#| OpFunctionEnd
#| OpIAdd
#| 2
#| .file	1 "./kernel.cl"
#| kernel.cl:2
#| exit 2
# expected errors:
#| k.cl: warning: '-g' has no effect on 'spirv:1.2' [on 'spirv:1.2']
#| oclcc: error: k.clbin: AMD code object gfx900 contains no instructions of a kernel 'nothing'
#| oclcc: error: 'all.asm' can contain only one device binary, but 2 different ones were built; select one with --device or --target

### zebin
# ocloc writes a file for each kernel.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs intel:tgllp
two_kernels
if ! oclcc k.cl --target intel:tgllp -S -o k.asm 2> errors; then
  cat errors
  grep -q libigc-dev errors && exit 77
fi
grep '^// ' k.asm
oclcc k.cl --target intel:tgllp -o k.clbin
oclcc --disassemble k.clbin --kernel add | grep -c 'add (\|^// '
oclcc --disassemble k.clbin --kernel ../../add; echo "exit $?"
# expected output:
#| // .text.add
#| // .text.multiply
#| 7
#| exit 2
# expected errors:
#| oclcc: error: k.clbin: Intel zebin of product family 29 contains no instructions of a kernel '../../add'

### pocl
# A binary of PoCL contains a shared object for each kernel.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
see_only "portable computing"
two_kernels
oclcc k.cl -o k.clbin --specialize add=8 --specialize multiply=8
oclcc --disassemble k.clbin > all.s && grep -o '_pocl_kernel_[a-z]*_workgroup>:' all.s | sort -u
oclcc --disassemble k.clbin --kernel add | grep -o '_pocl_kernel_[a-z]*_workgroup>:' | sort -u
# expected output:
#| _pocl_kernel_add_workgroup>:
#| _pocl_kernel_multiply_workgroup>:
#| _pocl_kernel_add_workgroup>:

### bitcode
# A binary of Oclgrind is bitcode.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
see_only Oclgrind
command -v llvm-dis > /dev/null || { echo "no llvm-dis"; exit 77; }
two_kernels
oclcc k.cl -o k.clbin
oclcc --disassemble k.clbin | grep -o '^define .* @[a-z]*(' | sed 's/.*@/@/'
oclcc --disassemble k.clbin --kernel multiply | grep -o '@multiply(\|= mul \|= add \|^}'
# expected output:
#| @add(
#| @multiply(
#| @multiply(
#| = mul 
#| }
