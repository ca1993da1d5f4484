foreach(package IN ITEMS PkgConfig Threads cxxopts nlohmann_json tl-expected fmt zstd)
  find_package(${package} REQUIRED)
endforeach()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
# Not pyenv's script of the same name, which takes four times as long to start.
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(end=sys.executable)"
  OUTPUT_VARIABLE CLBIN_PYTHON)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
find_path(OPENCL_HEADERS CL/cl.h REQUIRED)
find_library(OPENCL_ICD_LOADER OpenCL) # linked by typed_launches and by tests

# One target for each library, whether it is linked statically or as a shared library.
foreach(library IN ITEMS zstd_codec_library sodium_library lz4_library zlib_library fmt_library fmt_headers
    opencl_headers)
  add_library(${library} INTERFACE)
endforeach()
set(is_portable $<BOOL:${CLBIN_PORTABLE}>)
target_link_libraries(zstd_codec_library INTERFACE zstd::libzstd_$<IF:${is_portable},static,shared>)
target_link_libraries(sodium_library INTERFACE $<IF:${is_portable},libsodium.a,PkgConfig::sodium>)
# Of oclcc alone, which exports its functions: drivers must find those of their own zlib and LZ4.
target_link_libraries(lz4_library INTERFACE $<IF:${is_portable},liblz4.a,PkgConfig::lz4>)
target_link_options(lz4_library INTERFACE $<${is_portable}:-Wl,--exclude-libs,liblz4.a>)
target_link_libraries(zlib_library INTERFACE $<IF:${is_portable},libz.a,PkgConfig::zlib>)
target_link_options(zlib_library INTERFACE $<${is_portable}:-Wl,--exclude-libs,libz.a>)
target_include_directories(fmt_headers SYSTEM INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
clbin_add_library(fmt_code STATIC SOURCES cmake/fmt_code.cpp PUBLIC fmt_headers)
# Debian's libfmt is a shared library, built with libstdc++.
target_link_libraries(fmt_library INTERFACE $<IF:$<OR:${is_portable},${is_libcxx}>,fmt_code,fmt::fmt>)

# Khronos's OpenCL headers. No product links the ICD loader, because libclbin opens it at run time.
target_include_directories(opencl_headers SYSTEM INTERFACE ${OPENCL_HEADERS})
target_compile_definitions(opencl_headers INTERFACE CL_TARGET_OPENCL_VERSION=300)

# Debian's GoogleTest is built with libstdc++. For libc++ and Windows, the sources in its package are built.
if(BUILD_TESTING AND NOT CLBIN_LIBCXX AND NOT WIN32)
  find_package(GTest REQUIRED)
elseif(BUILD_TESTING)
  set(INSTALL_GTEST OFF)
  add_subdirectory(/usr/src/googletest ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)
  # AddressSanitizer checks the contents of a std::vector only if all code is built with it.
  string(REGEX REPLACE "(.+)" "-fsanitize=\\1" sanitizer "${CLBIN_SANITIZE}")
  foreach(library gtest gtest_main gmock gmock_main)
    target_compile_options(${library} PRIVATE -O0 -g0 ${sanitizer})
  endforeach()
endif()
