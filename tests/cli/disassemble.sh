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
oclcc --info s.clbin > /dev/null
# expected output:

### ptx
# PTX is printed as it is, without the NUL of NVIDIA's driver, in whole or one kernel of it.
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
oclcc --disassemble k.clbin --kernel add_more
oclcc --disassemble k.ptx --kernel add -o - | sed -n '1p;$p'
oclcc --disassemble k.ptx --kernel ad; echo "exit $?"
# expected output:

### tools
# A missing program is exit status 5, and --tool names another one. What it prints is shown without
# control characters.
cat > stub.s <<'END'
END
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
grep -o '<multiply>:\|<add>:\|/k\.cl:2$\|v_mul_lo_u32\|s_endpgm' amd.s | sort -u
oclcc k.cl --target amdgcn:gfx900 -S -o - | grep -c s_endpgm
oclcc --disassemble k.clbin --keep-target gfx900 --kernel nothing; echo "exit $?"
oclcc --disassemble k.clbin --keep-target spirv --kernel add | grep -o 'OpFunction \|OpFunctionEnd\|OpIAdd\|OpIMul' | sort -u
oclcc k.cl --target nvptx:sm_70 --emit asm && grep -c '\.entry' k.asm
oclcc k.cl --target spirv:1.2 --target nvptx:sm_70 -S -o all.asm; echo "exit $?"
# expected output:

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
