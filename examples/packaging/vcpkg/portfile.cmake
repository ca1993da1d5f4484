# The port consists of the shared library, which contains zstd, libsodium and fmt, and of the command.
vcpkg_check_linkage(ONLY_DYNAMIC_LIBRARY)
set(VCPKG_BUILD_TYPE release)

vcpkg_download_distfile(archive URLS "@URL@" FILENAME oclcc-${VERSION}.tar.gz SHA512 @SHA512@)
vcpkg_extract_source_archive(source ARCHIVE "${archive}")

# With a triplet of static libraries, vcpkg has only these. The compiler finds libsodium.a by LIBRARY_PATH.
set(is_portable ON)
if(EXISTS "${CURRENT_INSTALLED_DIR}/lib/libzstd.so")
  set(is_portable OFF)
endif()
set(ENV{LIBRARY_PATH} "${CURRENT_INSTALLED_DIR}/lib")
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_find_acquire_program(PYTHON3)
vcpkg_cmake_configure(SOURCE_PATH "${source}" OPTIONS
  -DBUILD_TESTING=OFF
  -DCLBIN_PORTABLE=${is_portable}
  -DCLBIN_STATIC_LIBSTDCXX=OFF
  -DCLBIN_STORAGE_HTTP=OFF
  -DCMAKE_SKIP_INSTALL_ALL_DEPENDENCY=ON
  -DCMAKE_UNITY_BUILD=ON
  "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}"
  "-DPython3_EXECUTABLE=${PYTHON3}")
foreach(target oclcc clbin_shared clbin_static clbin_layer) # not the demo and the benchmarks
  vcpkg_cmake_build(TARGET ${target})
endforeach()
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME clbin CONFIG_PATH lib/cmake/clbin)
vcpkg_copy_tools(TOOL_NAMES oclcc cl_offline_compiler AUTO_CLEAN)
# oclcc looks for the layer beside itself.
file(RENAME "${CURRENT_PACKAGES_DIR}/lib/libclbin_layer.so" "${CURRENT_PACKAGES_DIR}/tools/oclcc/libclbin_layer.so")
vcpkg_fixup_pkgconfig()
vcpkg_install_copyright(FILE_LIST "${source}/LICENSE" "${source}/debian/copyright")
