# The work-group sizes that kernel_catalog.cpp launches kernels with that require none, and the tile
# sizes that it lists; tests compare them.
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
set(sgemm_variants --variant default=)
foreach(blocking 128x256x8_8x16 128x64x16_8x4 64x64x16_4x4 64x64x16_8x8)
  string(REGEX MATCH "([0-9]+)x([0-9]+)x([0-9]+)_([0-9]+)x([0-9]+)" blocking ${blocking})
  list(APPEND sgemm_variants --variant "tile${CMAKE_MATCH_1}x${CMAKE_MATCH_2}x${CMAKE_MATCH_3}_item\
${CMAKE_MATCH_4}x${CMAKE_MATCH_5}=-DTILE_M=${CMAKE_MATCH_1} -DTILE_N=${CMAKE_MATCH_2} \
-DTILE_K=${CMAKE_MATCH_3} -DITEM_M=${CMAKE_MATCH_4} -DITEM_N=${CMAKE_MATCH_5}")
endforeach()
