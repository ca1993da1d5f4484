// Reads of images that nvidia_built_ins.cpp compares: each work-item reads one texel.
kernel void image1d(read_only image1d_t image, sampler_t sampler, const global int4* at,
                    global float4* results) {
  const size_t i = get_global_id(0);
  results[i] = read_imagef(image, sampler, at[i].x);
}
kernel void image1d_array(read_only image1d_array_t image, sampler_t sampler, const global int4* at,
                          global float4* results) {
  const size_t i = get_global_id(0);
  results[i] = read_imagef(image, sampler, at[i].xz);
}
kernel void image1d_array_float(read_only image1d_array_t image, sampler_t sampler,
                                const global int4* at, global float4* results) {
  const size_t i = get_global_id(0);
  results[i] = read_imagef(image, sampler, (float2)(at[i].x + 0.5f, at[i].z));
}
kernel void image2d(read_only image2d_t image, sampler_t sampler, const global int4* at,
                    global float4* results) {
  const size_t i = get_global_id(0);
  results[i] = read_imagef(image, sampler, at[i].xy);
}
kernel void image2d_array(read_only image2d_array_t image, sampler_t sampler, const global int4* at,
                          global float4* results) {
  const size_t i = get_global_id(0);
  results[i] = read_imagef(image, sampler, at[i]);
}
kernel void image2d_array_float(read_only image2d_array_t image, sampler_t sampler,
                                const global int4* at, global float4* results) {
  const size_t i = get_global_id(0);
  results[i] =
      read_imagef(image, sampler, (float4)(at[i].x + 0.5f, at[i].y + 0.5f, at[i].z - 0.25f, 0.0f));
}
#ifndef WITHOUT_DEPTH
// The texels of the other images are (x, y, layer, 1); this one's are x + 16 * y.
kernel void image2d_depth(read_only image2d_depth_t image, sampler_t sampler, const global int4* at,
                          global float4* results) {
  const size_t i = get_global_id(0);
  const float integer = read_imagef(image, sampler, at[i].xy);
  const float real = read_imagef(image, sampler, convert_float2(at[i].xy) + 0.5f);
  results[i] = (float4)(integer, real, get_image_width(image) + 16 * get_image_height(image), 1.0f);
}
#endif
