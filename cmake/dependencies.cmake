find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(cxxopts REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(fmt REQUIRED)
find_package(zstd REQUIRED)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)
find_path(OPENCL_HEADERS CL/cl.h REQUIRED)
find_library(OPENCL_ICD_LOADER OpenCL) # linked by typed_launches and by tests

# One target for each library, whether it is linked statically or as a shared library.
add_library(zstd_codec_library INTERFACE)
add_library(sodium_library INTERFACE)
add_library(fmt_library INTERFACE)
add_library(fmt_headers INTERFACE)
target_include_directories(fmt_headers SYSTEM INTERFACE
  $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
add_library(fmt_code STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/fmt_code.cpp)
target_link_libraries(fmt_code PUBLIC fmt_headers PRIVATE standard_settings)
if(CLBIN_PORTABLE OR CLBIN_LIBCXX) # Debian's libfmt is a shared library, built with libstdc++
  target_link_libraries(fmt_library INTERFACE fmt_code)
else()
  target_link_libraries(fmt_library INTERFACE fmt::fmt)
endif()
if(CLBIN_PORTABLE)
  target_link_libraries(zstd_codec_library INTERFACE zstd::libzstd_static)
  target_link_libraries(sodium_library INTERFACE libsodium.a)
else()
  target_link_libraries(zstd_codec_library INTERFACE zstd::libzstd_shared)
  target_link_libraries(sodium_library INTERFACE PkgConfig::sodium)
endif()

# Khronos's OpenCL headers. No product links the ICD loader, because libclbin opens it at run time.
add_library(opencl_headers INTERFACE)
target_include_directories(opencl_headers SYSTEM INTERFACE ${OPENCL_HEADERS})
target_compile_definitions(opencl_headers INTERFACE CL_TARGET_OPENCL_VERSION=300)
