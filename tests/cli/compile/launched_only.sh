#!/bin/bash
# --launched-only: of a recording, the kernels that were launched.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
cat > k.cl << 'END'
#define KERNEL __kernel
int twice(int x) { return 2 * x; }
KERNEL void used(global int* a) { *a = twice(*a); }
#if 1
KERNEL
#else
kernel
#endif
void unused(global int* a) {
  local int shared[4]; // not allowed in a function that is no kernel }
  shared[0] = twice(a[0]);
  a[0] = shared[0];
}
kernel void called(global int* a) { *a = 3; }
kernel void caller(global int* a) { called(a); }
END
kernels='called caller unused used'
make_bundle recording k.cl one a '' "$kernels" cpu-a 'used 1 64 1 1' 1.clbin
make_bundle recording k.cl one b -DB "$kernels" cpu-a 'unused 1 64 1 1;caller 1 64 1 1' 2.clbin
make_bundle recording k.cl two a '' "$kernels" cpu-a '' 3.clbin
oclcc --merge 1.clbin 2.clbin 3.clbin -o app.clbin
compiled() { # BUNDLE
  oclcc --info --json "$1" | python3 -c "
import json, sys
for group in json.load(sys.stdin)['bundles'][0]['groups']:
    names = {kernel['name'] for entry in group['entries'] for kernel in entry['kernels']}
    print(group['program'], group['variant'], sorted(names))"
}
echo "== the launched kernels"
oclcc app.clbin --launched-only -o less.clbin; echo "exit $?"
oclcc --verify --run -q less.clbin; echo "exit $?"
compiled less.clbin
echo "== all of them"
oclcc app.clbin -o all.clbin; echo "exit $?"
compiled all.clbin
echo "== nothing was launched, or what is left is not enough"
oclcc 3.clbin --launched-only -o none.clbin; echo "exit $?"
printf 'kernel void b(global int* a) {\n#ifdef X\n  {\n#else\n  {\n#endif\n  }\n}\nkernel void used(global int* a) { *a = 1; }\n' > odd.cl
make_bundle recording odd.cl odd a '' 'b used' cpu-a 'used 1 64 1 1' odd.clbin
oclcc odd.clbin --launched-only -o none.clbin 2> errors; echo "exit $?"
grep -o "has no kernel 'used': compile without.*" errors | sort -u
echo "== not for sources"
oclcc k.cl --launched-only -o none.clbin; echo "exit $?"
# expected output:
#| == the launched kernels
#| exit 0
#| exit 0
#| one a ['used']
#| one b ['called', 'caller', 'unused']
#| two a []
#| == all of them
#| exit 0
#| one a ['called', 'caller', 'unused', 'used']
#| one b ['called', 'caller', 'unused', 'used']
#| two a ['called', 'caller', 'unused', 'used']
#| == nothing was launched, or what is left is not enough
#| exit 2
#| exit 1
#| has no kernel 'used': compile without '--launched-only'
#| == not for sources
#| exit 2
# expected errors:
#| oclcc: note: app.clbin: a variant of a program is not built, because no kernel was launched
#| oclcc: error: 3.clbin: '--launched-only': no kernel of it was launched
#| oclcc: error: '--launched-only' requires a recording, and 'k.cl' is none
