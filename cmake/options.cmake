option(CLBIN_WARNINGS_AS_ERRORS "Treat compiler warnings as errors" OFF)
option(CLBIN_PORTABLE "Link everything but libc statically" OFF)
option(CLBIN_STATIC_LIBSTDCXX "Link the C++ standard library statically" ${CLBIN_PORTABLE})
# A portable program cannot link libcurl, which finds name services, certificates and TLS on its machine.
set(default ON)
if(CLBIN_PORTABLE)
  set(default OFF)
endif()
option(CLBIN_STORAGE_HTTP "Build oclcc-storage-http, the helper of the remote compile cache" ${default})
option(CLBIN_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
set(CLBIN_SANITIZE "" CACHE STRING "Value of -fsanitize=, empty for none")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # ccache(1), "Precompiled headers", requires these settings. No source of this project uses
  # __TIME__.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
