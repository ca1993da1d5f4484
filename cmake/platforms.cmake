# ${PROJECT_BINARY_DIR}/platforms contains the .icd files of every OpenCL platform of this machine,
# for OCL_ICD_VENDORS. Oclgrind and Intel's runtime of script/intel_runtime have no .icd file of
# their own. Mesa's Clover, which has no device here, is left out if rusticl is installed.
set(CLBIN_PLATFORMS ${PROJECT_BINARY_DIR}/platforms)
file(REMOVE_RECURSE ${CLBIN_PLATFORMS})
file(MAKE_DIRECTORY ${CLBIN_PLATFORMS})
file(GLOB icd_files /etc/OpenCL/vendors/*.icd)
if(EXISTS /etc/OpenCL/vendors/rusticl.icd)
  list(REMOVE_ITEM icd_files /etc/OpenCL/vendors/mesa.icd)
endif()
file(COPY ${icd_files} DESTINATION ${CLBIN_PLATFORMS})

find_file(oclgrind_library liboclgrind-rt-icd.so NO_CACHE PATHS /usr/lib/oclgrind /usr/lib/x86_64-linux-gnu/oclgrind)
# The library finds its own libraries (RUNPATH is $ORIGIN).
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/script/intel_runtime --library
  OUTPUT_VARIABLE intel_cpu_library OUTPUT_STRIP_TRAILING_WHITESPACE)
foreach(platform IN ITEMS oclgrind intel_cpu)
  if(EXISTS "${${platform}_library}")
    file(WRITE ${CLBIN_PLATFORMS}/${platform}.icd "${${platform}_library}\n")
  endif()
endforeach()

# To run the tests on some platforms only, for example "intel_cpu;pocl".
set(CLBIN_TEST_PLATFORMS "" CACHE STRING "Names of the .icd files that the tests see; empty: all")
if(CLBIN_TEST_PLATFORMS)
  file(GLOB icd_files ${CLBIN_PLATFORMS}/*.icd)
  list(JOIN CLBIN_TEST_PLATFORMS "|" chosen)
  list(FILTER icd_files EXCLUDE REGEX "/(${chosen})[.]icd$")
  file(REMOVE ${icd_files})
endif()
