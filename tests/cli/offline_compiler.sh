#!/bin/bash
# shellcheck disable=SC2218 # tests have their own functions of one name
# Tests of cl_offline_compiler.
offline_compiler=$ROOT/oclcc/command_line/cl_offline_compiler

# device_info NAME FILE [LINE...]: writes the device description of the conformance suite.
device_info() {
  local name=$1 file=$2
  shift 2
  printf '%s\n' '# OpenCL device info affecting binary offline compilation:' \
    CL_DEVICE_ADDRESS_BITS=64 'CL_DEVICE_EXTENSIONS="cl_khr_fp64 cl_khr_byte_addressable_store"' \
    'CL_DEVICE_VERSION="OpenCL 1.2 "' CL_DEVICE_IMAGE_SUPPORT=1 "CL_DEVICE_NAME=\"$name\"" "$@" \
    > "$file"
}

# Prints the names of the installed devices, one per line.
device_names() {
  oclcc --list-devices --json |
    python3 -c 'import json, sys; [print(d["device_name"]) for d in json.load(sys.stdin)["devices"]]'
}

### binary
# --mode binary writes the same bytes as oclcc for the device with that name, with any options.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
mkdir "my headers"
echo '#define NUMBER 42' > "my headers/number.h"
cat > k.cl <<'END'
#include "number.h"
constant char text[] = TEXT;
kernel void k(global int* a) { a[0] = NUMBER + sizeof(text); }
END
number=0
while IFS= read -r name; do
  device_info "$name" info
  # No suffix, as in the suite: the kernel's name and two checksums.
  "$offline_compiler" "--mode=binary" "--source=k.cl" "--output=k.1a2b3c4d.$number" \
    "--cl-device-info=info" -- -I "my headers" '-DTEXT="a b"' -cl-mad-enable -w ||
    echo "'$name': exit $?"
  oclcc --device "$name" -I "my headers" '-DTEXT="a b"' -cl-mad-enable -w k.cl -o expected.bin
  cmp "k.1a2b3c4d.$number" expected.bin
  number=$((number + 1))
done < <(device_names)
[ "$number" = "$device_count" ] || echo "$number devices"
ls -d -- *.1a2b3c4d.*[!0-9]* 2> /dev/null
exit 0

### errors
# Exit statuses are the same as oclcc's. Nothing is written.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
name=$(device_names | head -n 1)
device_info "$name" info
device_info "No such device" other
grep -v CL_DEVICE_NAME info > nameless
echo 'kernel void k(global int* a) { a[0] = 1; }' > k.cl
echo 'kernel void k(global int* a) { a[0] = missing; }' > bad.cl
run() {
  "$offline_compiler" "$@" > out 2>&1
  echo "exit $?: $(head -n 1 out)"
  cat out > last
}
run --source k.cl --output k.bin --cl-device-info info --mode online
run --source k.cl --output k.bin --cl-device-info info
run --source k.cl --output k.bin --mode binary
run --source k.cl --output k.bin --cl-device-info info --mode
run --source k.cl --output k.bin --cl-device-info info --fast
run --source none.cl --output k.bin --cl-device-info info --mode binary
run --source k.cl --output k.bin --cl-device-info none --mode binary
run --source k.cl --output none/k.bin --cl-device-info info --mode binary
run --source k.cl --output k.bin --cl-device-info nameless --mode binary
run --source k.cl --output k.bin --cl-device-info info --mode binary -- --no-such-option
run --source k.cl --output k.bin --cl-device-info other --mode binary
run --source bad.cl --output k.bin --cl-device-info info --mode binary
grep -c "bad.cl:1:39: error: .*'missing'" last
ls
# expected output:
#| exit 2: cl_offline_compiler: error: --mode takes binary or spir-v, not 'online'
#| exit 2: cl_offline_compiler: error: --mode is missing
#| exit 2: cl_offline_compiler: error: --cl-device-info is missing
#| exit 2: cl_offline_compiler: error: option '--mode' needs a value
#| exit 2: cl_offline_compiler: error: unrecognized option '--fast'
#| exit 3: cl_offline_compiler: error: cannot open 'none.cl'
#| exit 3: cl_offline_compiler: error: cannot open 'none'
#| exit 3: cl_offline_compiler: error: cannot write beside 'none/k.bin'
#| exit 2: cl_offline_compiler: error: 'nameless' has no CL_DEVICE_NAME
#| exit 2: oclcc: error: unrecognized option '--no-such-option'*
#| exit 5: oclcc: error: no device matches 'No such device'; there are *
#| exit 1: bad.cl:1:39: error: *'missing'*
#| 1
#| bad.cl
#| info
#| k.cl
#| last
#| nameless
#| other
#| out

### many_at_once
# The suite starts hundreds of processes at once, some for the same output. Here 64 processes share
# a cache folder, and four of them build.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform

# compile_many NAME: compiles all programs on the device with this name.
compile_many() {
  local name=$1 program run
  rm -f ./*
  device_info "$name" info
  for program in 0 1 2 3; do
    echo "kernel void k$program(global int* a) { a[0] = $program; }" > $program.cl
    oclcc --no-cache --device "$name" $program.cl -o expected.$program.bin
  done
  for run in {1..16}; do
    for program in 0 1 2 3; do
      "$offline_compiler" --mode binary --source $program.cl --output "out.$program" \
        --cl-device-info info -- -v 2> "log.$program.$run" ||
        { echo "run $run of $program on $name: exit $?"; cat "log.$program.$run"; } &
    done
  done
  wait
  echo "$(cat log.* | grep -c 'compile cache: .*hit') of 64 found theirs in the cache"
  for program in 0 1 2 3; do
    cmp out.$program expected.$program.bin
  done
  ls -d -- out.*
  ls "$TMPDIR"
}

while IFS= read -r name; do
  printed=$(compile_many "$name" 2>&1)
  wanted=$'60 of 64 found theirs in the cache\nout.0\nout.1\nout.2\nout.3'
  [ "$printed" = "$wanted" ] || echo "$printed"
done < <(device_names)

### spirv
# --mode spir-v runs clang and llvm-spirv of one version. If they are missing, it names the
# packages.
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

### spirv_module
# If the tools are installed, writes a SPIR-V module of a version that the device accepts.
echo 'kernel void k(global double* a, read_only image2d_t i) { a[0] = get_image_width(i); }' > k.cl
echo 'kernel void k(global int* a) { a[0] = missing; }' > bad.cl
device_info "Any" info 'CL_DEVICE_IL_VERSION="SPIR-V_1.0"'
"$offline_compiler" --mode=spir-v --source=k.cl --output=k.spv64 --cl-device-info=info 2> log
status=$?
if [ $status = 5 ]; then
  cat log
  exit 77
fi
echo "exit $status"
od -A n -t x4 -N 8 k.spv64
"$offline_compiler" --mode=spir-v --source=bad.cl --output=bad.spv64 --cl-device-info=info 2> log
echo "exit $?"
grep -c "use of undeclared identifier 'missing'" log
ls bad.spv64 2> /dev/null
exit 0
# expected output:
#| exit 0
#|  07230203 00010000
#| exit 1
#| 1

### target
# --target, or a variable, makes it compile for an offline target, with the bytes of oclcc.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_70
needs spirv:1.2
echo 'kernel void k(global int* a) { a[0] = NUMBER; }' > k.cl
device_info "No such device" info
run() {
  "$offline_compiler" --source k.cl --output "k.$1" --cl-device-info info "${@:2}"
  echo "exit $?"
}
run ptx --mode binary --target nvptx:sm_70 -- -DNUMBER=3
oclcc k.cl -DNUMBER=3 --target nvptx:sm_70 -o expected.ptx && cmp k.ptx expected.ptx && echo "the same PTX"
CLBIN_CTS_TARGET=nvptx:sm_70 run other --mode binary -- -DNUMBER=3
cmp k.other expected.ptx && echo "the same PTX"
run spv --mode spir-v --target=spirv:1.2 -- -DNUMBER=3
oclcc k.cl -DNUMBER=3 --target spirv:1.2 -o expected.spv && cmp k.spv expected.spv && echo "the same module"
run none --mode spir-v --target nvptx:sm_70
run none --mode binary --target spirv:1.2
run none --mode binary --target nvptx:sm_1
run none --mode binary --target nvptx:sm_70 2> messages
head -n 1 messages
CLBIN_CTS_TARGET=nvptx:sm_1 run ptx --mode binary --target nvptx:sm_80 -- -DNUMBER=3
grep -c '^.target sm_80' k.ptx
ls -- k.*
# expected output:
#| exit 0
#| the same PTX
#| exit 0
#| the same PTX
#| exit 0
#| the same module
#| exit 2
#| exit 2
#| exit 2
#| exit 1
#| k.cl:1:39: error: use of undeclared identifier 'NUMBER'
#| exit 0
#| 1
#| k.cl
#| k.other
#| k.ptx
#| k.spv
# expected errors:
#| cl_offline_compiler: error: --mode spir-v takes a target such as spirv:1.2, not 'nvptx:sm_70'
#| cl_offline_compiler: error: the target 'spirv:1.2' is for --mode spir-v
#| oclcc: error: '--target nvptx:sm_1': the family 'nvptx' has no such target; --list-targets lists them
