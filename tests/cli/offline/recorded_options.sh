#!/bin/bash
# The options of a recording as applications write them: "-D NAME=VALUE", quotes, and "-U NAME".
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_50
needs amdgcn:gfx90a
needs spirv:1.2
cat > k.cl << 'END'
#ifdef UNWANTED
#error unwanted
#endif
kernel void k(global T* a) { a[get_global_id(0)] = (T)(W LEFT RIGHT) + (T)sizeof(TEXT); }
END
compile() {
  make_bundle recording k.cl k default "$1" k cpu-a '' k.clbin
  oclcc k.clbin --target nvptx:sm_50 --target amdgcn:gfx90a --target spirv:1.2 -o new.clbin
  echo "exit $?"
  oclcc --info -v new.clbin | grep -E '^  (options|entry)'
  rm new.clbin
}
echo "== as OpenCV, Halide and gputools write them"
compile $'-D T=float -D W=4 -DLEFT= -D RIGHT=+1 -D TEXT=\'"a b"\' -U UNWANTED -cl-fast-relaxed-math'
echo "== white space"
compile $'-D\tT=int  -D  W=4 -D LEFT=+(1+ -D RIGHT="2 )" -D TEXT=\'"x"\' -w'
echo "== a value that looks like an option, and an option without one"
compile '-D T=int -D W=4 -D LEFT= -D RIGHT=-2 -D TEXT=1'
make_bundle recording k.cl k default '-D T=int -D' k cpu-a '' k.clbin
oclcc k.clbin --target spirv:1.2 -o new.clbin
echo "exit $?"
# expected output:
#| == as OpenCV, Halide and gputools write them
#| exit 0
#|   options   -D T=float -D W=4 -DLEFT= -D RIGHT=+1 -D TEXT='"a b"' -U UNWANTED -cl-fast-relaxed-math
#|   entry     PTX 6.0 for sm_50
#|   entry     AMD code object gfx90a
#|   entry     SPIR-V 1.0
#| == white space
#| exit 0
#|   options   -D	T=int  -D  W=4 -D LEFT=+(1+ -D RIGHT="2 )" -D TEXT='"x"' -w
#|   entry     PTX 6.0 for sm_50
#|   entry     AMD code object gfx90a
#|   entry     SPIR-V 1.0
#| == a value that looks like an option, and an option without one
#| exit 0
#|   options   -D T=int -D W=4 -D LEFT= -D RIGHT=-2 -D TEXT=1
#|   entry     PTX 6.0 for sm_50
#|   entry     AMD code object gfx90a
#|   entry     SPIR-V 1.0
#| exit 4
# expected errors:
#| oclcc: warning: k.clbin: program 'k', variant 'default' is not built, and its entries are kept: the bundle's build options '-D T=int -D' end with an incomplete option
#| oclcc: error: k.clbin: no program of it can be built
