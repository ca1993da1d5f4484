# ${PROJECT_BINARY_DIR}/platforms contains the .icd files of every OpenCL platform of this machine,
# for OCL_ICD_VENDORS. Oclgrind and Intel's runtime of script/intel_runtime have no .icd file of
# their own. Mesa's Clover is left out if rusticl is installed: both are Mesa, and Clover has no
# device here.
set(CLBIN_PLATFORMS ${PROJECT_BINARY_DIR}/platforms)
file(REMOVE_RECURSE ${CLBIN_PLATFORMS})
file(MAKE_DIRECTORY ${CLBIN_PLATFORMS})
file(GLOB icd_files /etc/OpenCL/vendors/*.icd)
if(EXISTS /etc/OpenCL/vendors/rusticl.icd)
  list(REMOVE_ITEM icd_files /etc/OpenCL/vendors/mesa.icd)
endif()
file(COPY ${icd_files} DESTINATION ${CLBIN_PLATFORMS})

find_file(OCLGRIND_ICD_LIBRARY liboclgrind-rt-icd.so PATHS /usr/lib/oclgrind /usr/lib/x86_64-linux-gnu/oclgrind)
if(OCLGRIND_ICD_LIBRARY)
  file(WRITE ${CLBIN_PLATFORMS}/oclgrind.icd "${OCLGRIND_ICD_LIBRARY}\n")
endif()

# script/intel_runtime's folder. The library finds its own libraries (RUNPATH is $ORIGIN).
file(STRINGS ${PROJECT_SOURCE_DIR}/script/intel_runtime.txt intel_runtime REGEX "^intel-opencl-rt==")
string(REGEX MATCH "[0-9][0-9.]+" intel_version "${intel_runtime}")
set(cache_folder $ENV{XDG_CACHE_HOME})
if(NOT cache_folder)
  set(cache_folder $ENV{HOME}/.cache)
endif()
set(intel_library ${cache_folder}/oclcc-test-platforms/intel-${intel_version}/lib/libintelocl.so)
if(EXISTS ${intel_library})
  file(WRITE ${CLBIN_PLATFORMS}/intel_cpu.icd "${intel_library}\n")
endif()

# To run the tests on some platforms only, for example "intel_cpu;pocl".
set(CLBIN_TEST_PLATFORMS "" CACHE STRING "Names of the .icd files that the tests see; empty: all")
if(CLBIN_TEST_PLATFORMS)
  file(GLOB icd_files ${CLBIN_PLATFORMS}/*.icd)
  list(JOIN CLBIN_TEST_PLATFORMS "|" chosen)
  list(FILTER icd_files EXCLUDE REGEX "/(${chosen})[.]icd$")
  file(REMOVE ${icd_files})
endif()
