#!/bin/bash
# llvm-spirv 15 translates this code to invalid SPIR-V unless oclcc repairs it.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs spirv:1.2
cat > k.cl <<'END'
inline float once(float a);
inline float once(float a) { return a + 1.0f; }

kernel void selects(global float4* a, int b) { *a = b ? a[1] : a[2]; }

kernel void loops(global int* a, int n) {
  do {
    do {
      if (a[n] == 3) { break; }
      --n;
    } while (n > a[1]);
    n -= 2;
  } while (n > 0);
  *a = n;
}

kernel void calls(global float* a) { *a = once(*a); }
END
for version in 1.0 1.2 1.4; do
  oclcc k.cl --target "spirv:$version" -o k.spv && spirv-val k.spv && echo "$version is valid"
done
# expected output:
#| 1.0 is valid
#| 1.2 is valid
#| 1.4 is valid
