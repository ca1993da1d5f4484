#!/bin/bash
# The programs of a bundle for targets that are added later: the same entries as from the sources.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_70
needs spirv:1.2
cat > k.cl << 'END'
#include "factor.h"
kernel void k(global float* a) { a[get_global_id(0)] /= a[FACTOR]; }
END
echo '#define FACTOR 3' > factor.h
variants=(--variant plain= --variant fast=-cl-fast-relaxed-math)
oclcc k.cl "${variants[@]}" --target nvptx:sm_50 -o old.clbin
oclcc k.cl "${variants[@]}" --target nvptx:sm_50,sm_70 --target spirv:1.2 -o all.clbin
rm factor.h
oclcc old.clbin --target nvptx:sm_70 --target spirv:1.2 -o new.clbin
echo "exit $?"
oclcc --info -v new.clbin | grep -E '^(program|  (options|source|entry))|^    target'
oclcc --extract all.clbin -o all
oclcc --extract new.clbin -o new
diff -r all new
# Every entry is replaced, and none is added.
oclcc new.clbin --target nvptx:sm_50,sm_70 --target spirv:1.2 -o again.clbin
oclcc --diff new.clbin again.clbin
oclcc old.clbin --target nvptx:sm_50 --emit ptx -o k.ptx
echo "exit $?"
# expected output:
#| exit 0
#| program 'k', variant 'fast'
#|   options   -cl-fast-relaxed-math
#|   source    kept: 2 files, 106 bytes
#|   entry     PTX 6.0 for sm_50
#|     target    nvptx:sm_50
#|   entry     PTX 6.0 for sm_70
#|     target    nvptx:sm_70
#|   entry     SPIR-V 1.0
#|     target    spirv:1.2
#| program 'k', variant 'plain'
#|   options   none
#|   source    kept: 2 files, 106 bytes
#|   entry     PTX 6.0 for sm_50
#|     target    nvptx:sm_50
#|   entry     PTX 6.0 for sm_70
#|     target    nvptx:sm_70
#|   entry     SPIR-V 1.0
#|     target    spirv:1.2
#| exit 2
# expected errors:
#| oclcc: error: 'k.ptx' can contain only one device binary, but 2 different ones were built; select one with --device or --target
