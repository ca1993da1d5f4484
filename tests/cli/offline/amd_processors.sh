#!/bin/bash
# Processors of AMD that are newer than clang 15, and generic ones: every kernel of kernels/ compiles for
# three of them, and one for each that is usable. The code objects have no undefined symbols, and the
# resources of their notes. The bytes are the same in another folder and with another -j. Other versions of
# the code object are what ELF files of AMD call the version of the ABI, and 2 less.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs amdgcn:gfx1200
command -v llvm-readelf > /dev/null || exit 77
oclcc --list-targets | grep -x -E 'amdgcn:gfx(94.|95.|11..|12..|.*-generic)' > usable
[ "$(wc -l < usable)" -ge 15 ] || cat usable
mapfile -t words < <(sed 's/^/--target=/' usable)
three=(--target "amdgcn:gfx942,gfx1200,gfx11-generic")
mkdir -p one deep/two
cp "$ROOT"/kernels/*.cl* one
cp "$ROOT"/kernels/*.cl* deep/two
(cd one && oclcc ./*.cl "${three[@]}" --no-cache -j2 -o ../three.clbin) || exit
(cd one && oclcc transpose.cl "${words[@]}" --no-cache -j2 -o ../one.clbin) || exit
(cd deep/two && oclcc transpose.cl "${words[@]}" --no-cache -j1 -o ../../two.clbin) || exit
cmp one.clbin two.clbin && echo "the same bytes"
for bundle in one three; do
  oclcc --verify "$bundle.clbin"
  oclcc -q --extract "$bundle.clbin" -o "$bundle.binaries" > /dev/null
  for file in "$bundle.binaries"/*.hsaco; do
    readelf -W --dyn-syms "$file" | awk '$7 == "UND" && $8 != "" { print FILENAME ": " $8 }'
  done
  oclcc --info --json "$bundle.clbin" > info.json
  python3 "$CLI_TESTS/offline/check_amd_notes.py" info.json "$bundle.binaries" && echo "the resources of the notes"
done
for target in gfx906 gfx906:co5 gfx90a:xnack+:co6 gfx1200 gfx1200:co4; do
  oclcc -q one/matmul_steps.cl --no-source --target "amdgcn:$target" -o version.clbin
  oclcc --verify version.clbin
  rm -rf version && oclcc -q --extract version.clbin -o version > /dev/null
  readelf -W --dyn-syms version/*.hsaco | awk '$7 == "UND" && $8 != "" { print }'
  echo "$target:$(od -An -j8 -N1 -tu1 version/*.hsaco)"
done
cat > image.cl << 'EOF'
kernel void k(read_only image2d_t i, sampler_t s, global float4* a) { *a = read_imagef(i, s, (int2)(0)); }
EOF
oclcc image.cl --target amdgcn:gfx942 -o image.clbin; echo "exit $?"
oclcc image.cl --target amdgcn:gfx11-generic -q -o image.clbin && oclcc --verify image.clbin
oclcc one/transpose.cl --target amdgcn:gfx950 --tool "clang=$clang" --tool lld=true --tool rocm-device-libs=. -o k.clbin; echo "exit $?"
# expected output:
#| the same bytes
#| the resources of the notes
#| the resources of the notes
#| gfx906:   2
#| gfx906:co5:   3
#| gfx90a:xnack+:co6:   4
#| gfx1200:   3
#| gfx1200:co4:   2
#| exit 1
#| exit 1
# expected errors:
#| oclcc: error: image.cl: 'amdgcn:gfx942': 'read_imagef' is called, and gfx942 has no images
#| oclcc: error: one/transpose.cl: 'amdgcn:gfx950': requires clang 20 or later, and '*/clang-1*' is of version 1*
