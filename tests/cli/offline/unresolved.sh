#!/bin/bash
# If a target lacks a function, compiling fails, and the message names the function that the source
# calls.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_70
needs spirv:1.2
cat > own.cl <<'END'
float elsewhere(float);
kernel void k(global float* a) { *a = elsewhere(*a); }
END
oclcc own.cl --target nvptx:sm_70 --target spirv:1.2; echo "exit $?"
cat > print.cl <<'END'
kernel void k(constant char* text) { printf("%s\n", text); }
END
oclcc print.cl --target nvptx:sm_70; echo "exit $?"
oclcc print.cl --target nvptx:sm_70 --target spirv:1.2 --keep-going -o print.clbin; echo "exit $?"
oclcc --info print.clbin | grep '^    target'
cat > atomics.cl <<'END'
kernel void k(global atomic_int* a) { atomic_fetch_add(a, 1); }
END
oclcc atomics.cl -cl-std=CL2.0 --target nvptx:sm_70; echo "exit $?"
# expected output:
#| exit 1
#| exit 1
#| exit 1
#|     target    spirv:1.2
#| exit 1
# expected errors:
#| oclcc: error: own.cl: 'nvptx:sm_70': nothing defines the function 'elsewhere'
#| oclcc: error: own.cl: 'spirv:1.2': nothing defines the function 'elsewhere'
#| oclcc: error: print.cl: 'nvptx:sm_70': printf: the format and each string must be constant on NVIDIA's devices
#| oclcc: error: print.cl: 'nvptx:sm_70': printf: the format and each string must be constant on NVIDIA's devices
#| oclcc: error: atomics.cl: 'nvptx:sm_70': nothing defines the function 'atomic_fetch_add'
