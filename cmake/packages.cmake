# Settings for `cpack` in a build folder: three Debian packages, and a relocatable archive of all.
set(CPACK_PACKAGE_NAME oclcc)
set(CPACK_PACKAGE_VENDOR "The oclcc authors")
set(CPACK_PACKAGE_CONTACT "The oclcc authors <oclcc@localhost>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_THREADS 0)
set(CPACK_GENERATOR "DEB;TZST")
set(CPACK_COMPONENTS_ALL oclcc libclbin1 libclbin-dev)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# DEB_COMPONENT_INSTALL: an archive contains all components.
foreach(switch STRIP_FILES VERBATIM_VARIABLES DEB_COMPONENT_INSTALL DEBIAN_PACKAGE_SHLIBDEPS
        DEBIAN_PACKAGE_GENERATE_SHLIBS)
  set(CPACK_${switch} ON)
endforeach()

# clbin_describe_package(NAME SECTION DESCRIPTION [FIELD text]…)
macro(clbin_describe_package name section description)
  string(TOUPPER CPACK_DEBIAN_${name} prefix)
  set(${prefix}_PACKAGE_NAME ${name})
  set(${prefix}_PACKAGE_SECTION ${section})
  set(${prefix}_DESCRIPTION "${description}")
  cmake_parse_arguments(${prefix}_PACKAGE "" "DEPENDS;RECOMMENDS;SUGGESTS" "" ${ARGN})
endmacro()
# An ICD loader is opened at run time, so dpkg-shlibdeps does not find it.
set(loader "ocl-icd-libopencl1 | libopencl1")
# ca-certificates: of https servers of the remote compile cache. Suggested: the compilers of --target.
clbin_describe_package(oclcc devel
  "Offline OpenCL kernel compiler\nCompiles OpenCL kernels for many devices into one bundle."
  RECOMMENDS "${loader}, ca-certificates" SUGGESTS "clang-15, libclc-15, llvm-spirv-15, spirv-tools")
clbin_describe_package(libclbin1 libs
  "Loader of OpenCL kernel bundles\nLoads the right device binary from a bundle, or builds its source."
  RECOMMENDS "${loader}")
clbin_describe_package(libclbin-dev libdevel
  "Loader of OpenCL kernel bundles - development files\nHeaders, libraries, CMake and pkg-config files."
  DEPENDS "libclbin1 (= ${PROJECT_VERSION}), libzstd-dev, libsodium-dev" SUGGESTS oclcc)
include(CPack)
