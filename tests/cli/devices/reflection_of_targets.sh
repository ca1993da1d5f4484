#!/bin/bash
# The arguments of kernels in code objects and zebins are the same as a driver reports for the
# source.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
device=$(device_of rusticl) || { cat skip_reason; exit 77; }
for target in amdgcn:gfx906 intel:skl; do
  if ! oclcc --list-targets | grep -q -x "$target"; then
    oclcc --list-targets | grep "^$target "
    exit 77
  fi
done
oclcc "$ROOT/tests/unit/format/binaries/arguments.cl" --device "$device" \
  --target amdgcn:gfx906 --target intel:skl -o all.clbin || exit
for target in amdgcn:gfx906 intel:skl; do
  oclcc --strip all.clbin --keep-target "$target" -q -o target.clbin
  oclcc --info target.clbin | grep '^    kernel' > "$target"
  oclcc --strip all.clbin --drop-target "$target" -q -o all.clbin
done
oclcc --info all.clbin | grep '^    kernel' > driver
cat driver
cmp amdgcn:gfx906 driver
cmp intel:skl driver
# expected output:
#|     kernel    every_space(global const float* restrict in, global volatile uint* out, constant const uchar4* table, local float* scratch, int count, float4 v, pair p, global pair* ps, global scalar* s, ulong n, uchar z)
#|     kernel    images(global read_only image2d_t in, global write_only image2d_t out, sampler_t s, global read_only image3d_t cube)
#|     kernel    nothing()
