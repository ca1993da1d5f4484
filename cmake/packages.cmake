# Settings for `cpack` in a build folder: three Debian packages, and a relocatable archive of
# everything.
set(CPACK_PACKAGE_NAME oclcc)
set(CPACK_PACKAGE_VENDOR "The oclcc authors")
set(CPACK_PACKAGE_CONTACT "The oclcc authors <oclcc@localhost>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_THREADS 0)
set(CPACK_GENERATOR "DEB;TZST")
set(CPACK_COMPONENTS_ALL oclcc libclbin1 libclbin-dev)

# An archive contains all components.
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_OCLCC_PACKAGE_NAME oclcc)
set(CPACK_DEBIAN_OCLCC_PACKAGE_SECTION devel)
# Opened at run time, so dpkg-shlibdeps does not find it.
# ca-certificates: of https servers of the remote compile cache.
set(CPACK_DEBIAN_OCLCC_PACKAGE_RECOMMENDS "ocl-icd-libopencl1 | libopencl1, ca-certificates")
# The compilers of --target.
set(CPACK_DEBIAN_OCLCC_PACKAGE_SUGGESTS "clang-15, libclc-15, llvm-spirv-15, spirv-tools")
set(CPACK_DEBIAN_LIBCLBIN1_PACKAGE_NAME libclbin1)
set(CPACK_DEBIAN_LIBCLBIN1_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBCLBIN1_PACKAGE_RECOMMENDS "ocl-icd-libopencl1 | libopencl1")
set(CPACK_DEBIAN_LIBCLBIN-DEV_PACKAGE_NAME libclbin-dev)
set(CPACK_DEBIAN_LIBCLBIN-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBCLBIN-DEV_PACKAGE_DEPENDS
  "libclbin1 (= ${PROJECT_VERSION}), libzstd-dev, libsodium-dev")
set(CPACK_DEBIAN_LIBCLBIN-DEV_PACKAGE_SUGGESTS oclcc)

set(CPACK_DEBIAN_OCLCC_DESCRIPTION
  "Offline OpenCL kernel compiler\nCompiles OpenCL kernels for many devices into one bundle.")
set(CPACK_DEBIAN_LIBCLBIN1_DESCRIPTION
  "Loader of OpenCL kernel bundles\nLoads the right device binary from a bundle of oclcc, or builds its source.")
set(CPACK_DEBIAN_LIBCLBIN-DEV_DESCRIPTION
  "Loader of OpenCL kernel bundles - development files\nHeaders, libraries, CMake and pkg-config files.")
include(CPack)
