# The work-group sizes that kernel_catalog.cpp launches kernels with that require none; tests compare
# the two.
set(launch_sizes)
foreach(launch
    matrixMul_local_ids=3x3 matrixMul_global_ids=16x16 matrixMul_tiled=16x16
    matMul=16x16 dotProduct=1 dotProduct_tiled=1024
    floatMatrixMult=16x16
    mul=64 vadd=64
    mat_mul=16x16 mat_mul_private=16x16
    mmul_row=64 mmul_row_private=64 mmul_row_private_column_local=64
    transpose_naive=16x16)
  list(APPEND launch_sizes --specialize ${launch})
endforeach()
