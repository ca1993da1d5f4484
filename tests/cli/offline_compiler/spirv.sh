#!/bin/bash
# --mode spir-v runs clang and llvm-spirv of one version. If they are missing, it names the
# packages.
# shellcheck source=tests/cli/offline_compiler.bash
source "$CLI_TESTS/offline_compiler.bash"
echo 'kernel void k(global int* a) { a[0] = 1; }' > k.cl
device_info "Any" info 'CL_DEVICE_IL_VERSION="SPIR-V_1.0 SPIR-V_1.3 SPIR-V_1.2"'
device_info "Any" poor CL_DEVICE_IMAGE_SUPPORT=0
sed -i 's/BITS=64/BITS=32/' poor

mkdir bare
for tool in bash cat dirname mktemp mv readlink rm; do
  ln -s "$(command -v $tool)" bare/$tool
done
compile() { "$offline_compiler" --mode=spir-v --source=k.cl "$@"; }
PATH=$PWD/bare compile --output=k.spv64 --cl-device-info=info 2>&1
echo "exit $?"

# Tools that print their command lines.
mkdir fake
for tool in clang-14 llvm-spirv-14 clang-15; do
  cat > fake/$tool <<'END'
#!/bin/bash
printf '%s' "${0##*/}"
for word; do
  previous=${last:-}
  last=$word
  word=${word/%k.*.??????/SCRATCH}
  case $word in */module.*) word=SCRATCH/${word##*/} ;; esac
  printf ' [%s]' "$word"
  if [ "$previous" = -o ]; then echo "made by $0" > "$last"; fi
done
echo
END
  chmod +x fake/$tool
done
PATH=$PWD/fake:$PWD/bare compile --output=k.spv64 --cl-device-info=info -- -I "my headers" '-DT="a b"'
PATH=$PWD/fake:$PWD/bare compile --output=k.spv32 --cl-device-info=poor -- -cl-std=CL3.0
cat k.spv64
ls
# expected output:
#| cl_offline_compiler: error: SPIR-V needs clang and llvm-spirv of one version; install clang-14 and llvm-spirv-14, or newer ones
#| exit 5
#| clang-14 [-target] [spir64] [-O0] [-cl-std=CL1.2] [-Xclang] [-cl-ext=-all,+cl_khr_fp64,+cl_khr_byte_addressable_store] [-I] [my headers] [-DT="a b"] [-Xclang] [-finclude-default-header] [-emit-llvm] [-c] [-x] [cl] [k.cl] [-o] [SCRATCH/module.bc]
#| llvm-spirv-14 [--spirv-max-version=1.3] [SCRATCH/module.bc] [-o] [SCRATCH/module.spv]
#| clang-14 [-target] [spir] [-O0] [-U__IMAGE_SUPPORT__] [-cl-std=CL3.0] [-Xclang] [-finclude-default-header] [-emit-llvm] [-c] [-x] [cl] [k.cl] [-o] [SCRATCH/module.bc]
#| llvm-spirv-14 [--spirv-max-version=1.0] [SCRATCH/module.bc] [-o] [SCRATCH/module.spv]
#| made by */fake/llvm-spirv-14
#| bare
#| fake
#| info
#| k.cl
#| k.spv32
#| k.spv64
#| poor
