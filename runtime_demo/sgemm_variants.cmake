# The tile sizes that kernel_catalog.cpp lists; tests compare the two.
set(sgemm_variants --variant default=)
foreach(blocking 128x256x8_8x16 128x64x16_8x4 64x64x16_4x4 64x64x16_8x8)
  string(REGEX MATCHALL "[0-9]+" sizes ${blocking})
  list(GET sizes 0 tile_m)
  list(GET sizes 1 tile_n)
  list(GET sizes 2 tile_k)
  list(GET sizes 3 item_m)
  list(GET sizes 4 item_n)
  list(APPEND sgemm_variants --variant "tile${tile_m}x${tile_n}x${tile_k}_item${item_m}x${item_n}=\
-DTILE_M=${tile_m} -DTILE_N=${tile_n} -DTILE_K=${tile_k} -DITEM_M=${item_m} -DITEM_N=${item_n}")
endforeach()
