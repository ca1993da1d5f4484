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
