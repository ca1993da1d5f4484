#!/bin/bash
# Warnings and errors of AMD's and Intel's compilers have the user's file, line and names.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs amdgcn:gfx90a
needs intel:tgllp
both=(--target amdgcn:gfx90a --target intel:tgllp)
mkdir include
printf '\n#define TWICE(x) ((x) + (y))\n' > include/twice.h
cat > k.cl <<'END'
#include <twice.h>
kernel void k(global int* a) { *a = TWICE(*a); }
END
oclcc -I include k.cl "${both[@]}"; echo "exit $?"
cat > own.cl <<'END'
float elsewhere(float);
kernel void k(global float* a) { *a = elsewhere(*a); }
END
oclcc own.cl "${both[@]}"; echo "exit $?"
cat > print.cl <<'END'
kernel void k(global int* a) { printf(*a ? "yes\n" : "no\n"); }
END
oclcc print.cl --target amdgcn:gfx90a; echo "exit $?"
cat > text.cl <<'END'
kernel void k(constant char* text) { printf("%s\n", text); }
END
oclcc text.cl --target amdgcn:gfx90a; echo "exit $?"
cat > double.cl <<'END'
kernel void k(global double* a) { *a = 1.0; }
END
oclcc double.cl --target intel:skl -o double.clbin; echo "exit $?"
oclcc double.cl --target intel:tgllp; echo "exit $?"
echo 'kernel void k(global int* a) { *a = A; }' > a.cl
oclcc a.cl -DA=1 "${both[@]}" -cl-std=CLC++; echo "exit $?"
oclcc a.cl "-DA=1 + 2" "${both[@]}" -cl-strict-aliasing -o a.clbin; echo "exit $?"
oclcc a.cl -DA=1 "${both[@]}" -cl-unknown; echo "exit $?"
oclcc a.cl -DA=1 --target amdgcn:gfx90a:xnack-:sramecc+; echo "exit $?"
oclcc a.cl -DA=1 --target intel:acm-g10; echo "exit $?"
oclcc a.cl -DA=1 --target intel:bmg; echo "exit $?"
# ocloc 26 does not know skl, and appends a suffix to the name of its output.
cat > new << 'END'
#!/bin/sh
[ "$1" != query ] || { echo 26.27.1 > "$2"; exit; }
"$ocloc" $(echo "$@" | sed 's/-device [^ ]*/-device tgllp/;s/-options .*//') && mv out/kernel out/kernel.bin
END
chmod +x new
export ocloc; ocloc=$(command -v ocloc)
oclcc a.cl -DA=1 --tool ocloc=./new --target intel:skl; echo "exit $?"
sed -i 's/A/1/' a.cl
oclcc a.cl --tool ocloc=./new --target intel:tgllp -o new.clbin; echo "exit $?"
oclcc a.cl --tool ocloc=./new --target intel:bmg; echo "exit $?"
ls -- *.clbin
# expected output:
#| exit 1
#| exit 1
#| exit 1
#| exit 1
#| exit 0
#| exit 1
#| exit 1
#| exit 0
#| exit 1
#| exit 2
#| exit 2
#| exit 1
#| exit 1
#| exit 0
#| exit 1
#| a.clbin
#| double.clbin
#| new.clbin
# expected errors:
#| k.cl:2:37: error: use of undeclared identifier 'y'
#|     2 | kernel void k(global int* a) { *a = TWICE(*a); }
#|       |                                     ^
#| include/twice.h:2:26: note: expanded from macro 'TWICE'
#|     2 | #define TWICE(x) ((x) + (y))
#|       |                          ^
#| oclcc: error: own.cl: 'amdgcn:gfx90a': nothing defines the function 'elsewhere'
#| oclcc: error: own.cl: 'intel:tgllp': nothing defines the function 'elsewhere'
#| oclcc: error: print.cl: 'amdgcn:gfx90a': printf: the format and each string must be constant on AMD's devices
#| oclcc: error: text.cl: 'amdgcn:gfx90a': printf: the format and each string must be constant on AMD's devices
#| double.cl:1:22: error: use of type 'double' requires cl_khr_fp64 support
#|     1 | kernel void k(global double* a) { *a = 1.0; }
#|       |                      ^
#| double.cl:1:40: warning: double precision constant requires cl_khr_fp64, casting to single precision
#|     1 | kernel void k(global double* a) { *a = 1.0; }
#|       |                                        ^
#| oclcc: error: a.cl: 'amdgcn:gfx90a': its compiler does not know the option '-cl-std=CLC++'
#| oclcc: error: a.cl: 'intel:tgllp': '-cl-std=CLC++' is not supported
#| a.cl: warning: '-cl-strict-aliasing' has no effect on 'amdgcn:gfx90a' [on 'amdgcn:gfx90a']
#| oclcc: error: a.cl: 'amdgcn:gfx90a': its compiler does not know the option '-cl-unknown'
#| oclcc: error: a.cl: 'intel:tgllp': its compiler does not know the option '-cl-unknown'
#| oclcc: error: '--target amdgcn:gfx90a:xnack-:sramecc+': the family 'amdgcn' has no such target; --list-targets lists them
#| oclcc: error: '--target intel:acm-g10': the family 'intel' has no such target; --list-targets lists them
#| oclcc: error: a.cl: 'intel:bmg': requires ocloc 26 or later, and '*/ocloc' is of version 22.43*
#| oclcc: error: a.cl: 'intel:skl': requires ocloc 24 or earlier, and '*/new' is of version 26.27.1
#| oclcc: error: a.cl: 'intel:bmg': ocloc wrote a zebin that does not match: Intel zebin of product family 29 (IP version 12.0.0) does not run on IP version 20.1.0
