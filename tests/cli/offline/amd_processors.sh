#!/bin/bash
# Every kernel of kernels/ compiles for each usable processor of AMD that is newer than clang 15, and for
# the generic ones. The code objects have no undefined symbols, and the resources of their notes. The
# bytes are the same in another folder and with another -j.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs amdgcn:gfx1200
command -v llvm-readelf > /dev/null || exit 77
mapfile -t targets < <(oclcc --list-targets | grep -x -E 'amdgcn:gfx(94.|95.|11..|12..|.*-generic)')
[ "${#targets[@]}" -ge 15 ] || printf '%s\n' "${targets[@]}"
words=(--no-cache)
for target in "${targets[@]}"; do
  words+=(--target "$target")
done
mkdir -p one deep/two
cp "$ROOT"/kernels/*.cl* one
cp "$ROOT"/kernels/*.cl* deep/two
(cd one && oclcc ./*.cl "${words[@]}" -j2 -o ../one.clbin) || exit
(cd deep/two && oclcc ./*.cl "${words[@]}" -j1 -o ../../two.clbin) || exit
cmp one.clbin two.clbin && echo "the same bytes"
oclcc --verify one.clbin
oclcc --extract one.clbin -o binaries
for file in binaries/*.hsaco; do
  readelf -W --dyn-syms "$file" | awk '$7 == "UND" && $8 != "" { print FILENAME ": " $8 }'
done
oclcc --info --json one.clbin > info.json
python3 "$CLI_TESTS/offline/check_amd_notes.py" info.json binaries && echo "the resources of the notes"
cat > image.cl << 'EOF'
kernel void k(read_only image2d_t i, sampler_t s, global float4* a) { *a = read_imagef(i, s, (int2)(0)); }
EOF
oclcc image.cl --target amdgcn:gfx942 -o image.clbin; echo "exit $?"
oclcc image.cl --target amdgcn:gfx11-generic -q -o image.clbin && oclcc --verify image.clbin
oclcc one/transpose.cl --target amdgcn:gfx950 --tool clang=clang-19 -o gfx950.clbin; echo "exit $?"
# expected output:
#| the same bytes
#| the resources of the notes
#| exit 1
#| exit 1
# expected errors:
#| oclcc: error: image.cl: 'amdgcn:gfx942': 'read_imagef' is called, and gfx942 has no images
#| oclcc: error: one/transpose.cl: 'amdgcn:gfx950': requires clang 20 or later, and '*/clang-19' is of version 19.*
