#!/bin/bash
# Every kernel of kernels/ compiles for GPUs of AMD and Intel without a platform. The code objects have
# no undefined symbols, fit the processors, and contain what LLVM assembles to the same bytes. The bytes
# of two kernels are the same in another folder, with another -j, and without the other kernels.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
command -v llvm-mc > /dev/null || exit 77
needs amdgcn:gfx90a
needs intel:tgllp
words=(--target "amdgcn:gfx906,gfx90a,gfx1030" --target "intel:skl,tgllp" --no-cache)
mkdir -p one deep/two
cp "$ROOT"/kernels/*.cl* one
cp "$ROOT"/kernels/*.cl* deep/two
(cd one && oclcc ./*.cl "${words[@]}" -j2 -o ../one.clbin) || exit
(cd deep/two && oclcc transpose.cl elementwise.cl "${words[@]}" -j1 -o ../../two.clbin) || exit
# In OpenCL C 2.0, as NVIDIA's driver compiles it, a pointer without an address space is a generic one.
(cd one && oclcc ./*.cl -cl-std=CL2.0 --target amdgcn:gfx906 -q -fsyntax-only) && echo "OpenCL C 2.0, too"
oclcc -q --extract two.clbin -o again > /dev/null
oclcc --verify one.clbin

for target in amdgcn:gfx906 amdgcn:gfx90a amdgcn:gfx1030 intel:skl intel:tgllp; do
  oclcc --strip one.clbin --keep-target "$target" -q -o target.clbin
  oclcc --info -v target.clbin | sed -n 's/^    kernel *//p' > "kernels.$target"
  # tgllp has no double precision. The sources in kernels/ test for it.
  [ "$target" != intel:tgllp ] || sed -i '/double/d' kernels.amdgcn:gfx906
  cmp "kernels.amdgcn:gfx906" "kernels.$target"
done
[ -s kernels.intel:skl ] && echo "the same kernels"
oclcc --info --json one.clbin > info.json
python3 "$CLI_TESTS/offline/check_gpu_kernels.py" info.json && echo "within the limits"

oclcc --extract one.clbin -o binaries
same=0
for file in again/*.hsaco again/*.bin; do
  cmp "$file" "binaries/${file#again/}" && same=$((same + 1))
done
[ $same = 10 ] && echo "the same bytes"
for file in binaries/*.hsaco; do
  readelf -W --dyn-syms "$file" | awk '$7 == "UND" && $8 != "" { print FILENAME ": " $8 }'
done
python3 "$CLI_TESTS/offline/check_code_objects.py" binaries/*.hsaco
# An instruction that no processor has.
file=$(echo binaries/elementwise*gfx906.hsaco)
at=$(readelf -SW "$file" | sed -n 's/.* [.]text *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
printf '\xff\xff\xff\xff' | dd of="$file" bs=1 seek=$((0x$at)) conv=notrunc 2> dd.log
python3 "$CLI_TESTS/offline/check_code_objects.py" "$file" 2> log || echo "wrong instructions are found"
for file in binaries/*intel*.bin; do
  ocloc validate -file "$file" > log || cat log
  grep -q 'Binary is VALID' log || cat log
done
# expected output:
#| OpenCL C 2.0, too
#| the same kernels
#| within the limits
#| the same bytes
#| the instructions and the arguments are right
#| wrong instructions are found
# expected errors:
#| ./hgemm.cl: warning: kernel hgemm * spilled around * [on 'intel:tgllp']
