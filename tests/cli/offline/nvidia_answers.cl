constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
float4 get(read_only image2d_t a, int2 p) { return read_imagef(a, s, p); }
kernel __attribute__((reqd_work_group_size(8,4,1))) __attribute__((vec_type_hint(float4))) void blur(read_only image2d_t a, write_only image2d_t b, sampler_t q, read_only image3d_t v, global long* r) {
 int2 p = (int2)(get_global_id(0), get_global_id(1));
 float4 x = get(a,p) + read_imagef(v, q, (float4)(p.x, p.y, 0, 0));
 write_imagef(b, p, sqrt(x) / x.yzwx);
 r[p.x] = rotate(r[p.x], (long)p.y) ; r[p.y] = r[p.y] << (p.x & 63) | (ulong)r[p.y] >> (-p.x & 63);
 printf("%d %s\n", p.x, "a");
}
typedef struct { int a; float4 b; } S;
kernel __attribute__((reqd_work_group_size(4,2,1))) void both(global const float* restrict a, local int* l, constant S* s, S v, float4 w, uchar3 u, global volatile ulong* o) { o[0] = a[0] + l[0] + s->a + v.a + w.x + u.x; }
kernel __attribute__((work_group_size_hint(16,1,1))) __attribute__((vec_type_hint(int))) void hint(global double* d, read_only image2d_array_t i, write_only image1d_t w, sampler_t s, uint n) { local int shared[64]; shared[n] = n; barrier(CLK_LOCAL_MEM_FENCE); d[n] = read_imagef(i, s, (float4)(n,n,0,0)).x + shared[0]; write_imagef(w, (int)n, (float4)(1)); }
kernel __attribute__((reqd_work_group_size(8,1,1))) __attribute__((vec_type_hint(float4))) __attribute__((work_group_size_hint(8,1,1))) void all3(global half* h) {}
