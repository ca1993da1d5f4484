# ${PROJECT_BINARY_DIR}/platforms: the .icd files of every OpenCL platform of this machine, for
# OCL_ICD_VENDORS. Oclgrind comes without one; Mesa's Clover is left out where rusticl is there: both
# are Mesa, and Clover has no device here.
set(CLBIN_PLATFORMS ${PROJECT_BINARY_DIR}/platforms)
file(REMOVE_RECURSE ${CLBIN_PLATFORMS})
file(MAKE_DIRECTORY ${CLBIN_PLATFORMS})

file(GLOB icd_files /etc/OpenCL/vendors/*.icd)
foreach(icd_file IN LISTS icd_files)
  get_filename_component(icd_name ${icd_file} NAME)
  if(icd_name STREQUAL "mesa.icd" AND EXISTS /etc/OpenCL/vendors/rusticl.icd)
    continue()
  endif()
  file(COPY ${icd_file} DESTINATION ${CLBIN_PLATFORMS})
endforeach()

find_file(OCLGRIND_ICD_LIBRARY liboclgrind-rt-icd.so PATHS /usr/lib/oclgrind /usr/lib/x86_64-linux-gnu/oclgrind)
if(OCLGRIND_ICD_LIBRARY)
  file(WRITE ${CLBIN_PLATFORMS}/oclgrind.icd "${OCLGRIND_ICD_LIBRARY}\n")
endif()
