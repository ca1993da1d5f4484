# The tile sizes that kernel_catalog.cpp lists; tests compare the two.
set(sgemm_variants --variant default=)
foreach(blocking 128x256x8_8x16 128x64x16_8x4 64x64x16_4x4 64x64x16_8x8)
  string(REGEX MATCH "([0-9]+)x([0-9]+)x([0-9]+)_([0-9]+)x([0-9]+)" blocking ${blocking})
  list(APPEND sgemm_variants --variant "tile${CMAKE_MATCH_1}x${CMAKE_MATCH_2}x${CMAKE_MATCH_3}_item\
${CMAKE_MATCH_4}x${CMAKE_MATCH_5}=-DTILE_M=${CMAKE_MATCH_1} -DTILE_N=${CMAKE_MATCH_2} \
-DTILE_K=${CMAKE_MATCH_3} -DITEM_M=${CMAKE_MATCH_4} -DITEM_N=${CMAKE_MATCH_5}")
endforeach()
