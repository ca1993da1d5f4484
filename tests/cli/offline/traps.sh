#!/bin/bash
# Sources that oclcc's edits of compiler output could damage, or that compilers reject without them.
# shellcheck source=tests/cli/offline/tools.bash
source "$CLI_TESTS/offline/tools.bash"
needs nvptx:sm_70
needs spirv:1.0
# A kernel passes its image to a function. The function, static or not, must be inlined.
cat > images.cl <<'END'
static float4 blur(read_only image2d_t i, sampler_t s, int2 p) {
  float4 x = 0;
  for (int a = 0; a < p.x; a++)
    x += read_imagef(i, s, p + a) * pow(x, x) * sin(x) * tan(x) * lgamma(x);
  return x;
}
struct linkonce { float4 v; };
__attribute__((noinline)) struct linkonce rd(read_only image2d_t i, sampler_t s, int2 p) {
  struct linkonce w;
  w.v = read_imagef(i, s, p);
  return w;
}
__attribute__((weak)) void wr(write_only image2d_t i, float4 x) { write_imagef(i, (int2)(1, 1), x); }
__attribute__((overloadable, noinline)) static float4 get(read_only image2d_t i, sampler_t s) {
  return read_imagef(i, s, (int2)(3, 3));
}
kernel void k(read_only image2d_t i, write_only image2d_t o, sampler_t s, global float4* p) {
  p[0] = blur(i, s, (int2)(1, 1));
  p[1] = blur(i, s, (int2)(p[0].x, 2)) + rd(i, s, (int2)(1, 1)).v + get(i, s);
  wr(o, p[1]);
}
END
oclcc images.cl --target nvptx:sm_80 -o images.ptx
awk '/\.func /{f=1} /\.entry /{f=0} f && /^[ \t]*(tex|suld|sust)\./' images.ptx
ptxas=$(PATH=$PATH:/usr/local/cuda/bin command -v ptxas) && { "$ptxas" -arch=sm_80 images.ptx -o images.cubin || echo "not assembled"; }

# An image and a sampler of the kernel are read in nested loops, and again behind them.
cat > loops.cl <<'END'
kernel void k(read_only image2d_t i, sampler_t s, global float4* o, int n, int m) {
  float4 sum = 0;
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < m; ++x) { sum += read_imagef(i, s, (int2)(x, y)); }
  }
  o[get_global_id(0)] = sum + read_imagef(i, s, (int2)(n, m));
}
END
oclcc loops.cl --target nvptx:sm_80 -o loops.ptx && grep -c -F '[k_param_0, k_param_1, {' loops.ptx > reads && echo "loops"
ptxas=$(PATH=$PATH:/usr/local/cuda/bin command -v ptxas) && { "$ptxas" -arch=sm_80 loops.ptx -o loops.cubin || echo "not assembled"; }

# The built-in functions are the same with options that relax the program's own operations.
cat > functions.cl <<'END'
kernel void k(global float* f, global double* d) {
  f[0] = pow(f[0], f[1]);
  f[1] = exp(f[2]);
  f[2] = sin(f[3]);
  f[3] = tan(f[4]);
  f[4] = erf(f[5]);
  d[0] = pow(d[0], d[1]);
  d[1] = exp(d[2]);
}
END
echo 'kernel void own(global float* f) { f[0] = f[0] * f[1] + f[2] / f[3]; }' > own.cl
oclcc functions.cl --target nvptx:sm_80 -o functions.ptx
for option in -cl-finite-math-only -cl-unsafe-math-optimizations -cl-fast-relaxed-math; do
  oclcc functions.cl --target nvptx:sm_80 "$option" -o relaxed.ptx
  cmp functions.ptx relaxed.ptx && echo "the same functions"
done
oclcc own.cl --target nvptx:sm_80 -cl-fast-relaxed-math -o own.ptx && grep -oE 'div.approx|fma.rn' own.ptx

# Both sides of a branch need the driver's sampler, and a barrier keeps it from moving in front.
cat > branch.cl <<'END'
kernel void k(read_only image2d_t i, global float4* o, int n) {
  float4 sum = 0;
  if (n > 16) {
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = read_imagef(i, (int2)(n, 0));
  }
  *o = sum * read_imagef(i, (int2)(0, n));
}
END
oclcc branch.cl --target nvptx:sm_80 -o branch.ptx && grep -c -E 'tex\..*\[k_param_0, oclcc_sampler_state_16, ' branch.ptx > reads && echo "branch"

# LLVM compares the halves as a vector, which clang 19 cannot select.
cat > compare.cl <<'END'
kernel void k(global short2* o, global half* x, global half* y) {
  size_t i = get_global_id(0);
  float2 p = vload_half2(i, x), q = vload_half2(i, y);
  o[i] = (short2)(p.x <= q.x ? -1 : 0, p.y <= q.y ? -1 : 0);
}
END
for tool in "$clang" "$(command -v clang-19)"; do
  oclcc compare.cl --target nvptx:sm_70 --tool "clang=${tool:-$clang}" -o compare.ptx && echo "comparison"
done

# Words of LLVM in names and strings.
cat > words.cl <<'END'
struct hidden { int a; int b; };
struct hidden f(int x) { struct hidden h; h.a = x; h.b = 2 * x; return h; }
typedef struct protected { float x, y; } V;
V add(V a, V b) { a.x += b.x; a.y += b.y; return a; }
constant char s$[] = "hello\n";
constant char text[] = "x @printf(ptr addrspace(4) %x) @llvm.sqrt.f32( .func foo; ";
kernel void k(global int* p, global V* v, global float4* a, int b, global char* o) {
  struct hidden h = f(p[0]);
  p[1] = h.a + h.b + printf(s$);
  v[0] = add(v[1], v[2]);
  *a = b ? (float4)(1) : (float4)(2);
  o[0] = " v = select i1 c, <4 x float> a"[b] + text[b];
}
END
oclcc words.cl --target nvptx:sm_70 -o words.ptx
oclcc words.cl --target spirv:1.0 -o words.spv

# Messages name only the user's code, and repeated runs make the same bytes.
cat > print.cl <<'END'
#define __OPENCL_VERSION__ 100
kernel void k(global float* p) { printf("%d\n", p[0]); }
END
oclcc print.cl --target nvptx:sm_70 --no-cache -o one.clbin
oclcc -q print.cl --target nvptx:sm_70 --no-cache -o two.clbin
cmp one.clbin two.clbin && echo "the same bytes"
# expected output:
#| loops
#| the same functions
#| the same functions
#| the same functions
#| div.approx
#| fma.rn
#| branch
#| comparison
#| comparison
#| the same bytes
# expected errors:
#| print.cl:1:9: warning: '__OPENCL_VERSION__' macro redefined [-Wmacro-redefined]
#|     1 | #define __OPENCL_VERSION__ 100
#|       |         ^
#| print.cl:2:49: warning: format specifies type 'int' but the argument has type 'float' [-Wformat]
#|     2 | kernel void k(global float* p) { printf("%d\n", p[0]); }
#|       |                                                 ^
