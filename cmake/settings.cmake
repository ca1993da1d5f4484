# The options of a build, the compiler's flags, and the functions that add libraries and programs.
option(CLBIN_WARNINGS_AS_ERRORS "Treat compiler warnings as errors" OFF)
option(CLBIN_PORTABLE "Link everything but libc statically" OFF)
option(CLBIN_STATIC_LIBSTDCXX "Link the C++ standard library statically" ${CLBIN_PORTABLE})
# A portable program cannot link libcurl, which finds name services, certificates and TLS on its machine.
include(CMakeDependentOption)
cmake_dependent_option(CLBIN_STORAGE_HTTP
  "Build oclcc-storage-http, the helper of the remote compile cache" ON "NOT CLBIN_PORTABLE" OFF)
option(CLBIN_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
set(CLBIN_SANITIZE "" CACHE STRING "Value of -fsanitize=, empty for none")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # ccache(1), "Precompiled headers", requires these; no source of this project uses __TIME__.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
# Whether the C++ standard library is libc++ (CMAKE_CXX_FLAGS=-stdlib=libc++).
include(CheckCXXSymbolExists)
include(CheckLinkerFlag)
check_cxx_symbol_exists(_LIBCPP_VERSION version CLBIN_LIBCXX)
set(is_libcxx $<BOOL:${CLBIN_LIBCXX}>)

# Every product and test target links this privately, so no folder sets its own flags.
add_library(standard_settings INTERFACE)
target_compile_options(standard_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wconversion -Wnon-virtual-dtor -Woverloaded-virtual>
  # g++ 12 reports impossible overlaps in std::string's operator+ (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # gcc 12 to 14 report members of std::variant as uninitialized, each version in other sources (GCC
  # bug 105562). clang's sanitizers and analyzer find the real cases.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  # In a unity build, a source is included in another file. g++ then warns of classes that use
  # unnamed namespaces of the source. Collecting garbage only from 1 GB (in KiB) saves it a twelfth.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage
    --param=ggc-min-heapsize=1000000>
  $<$<CXX_COMPILER_ID:Clang>:-Wreserved-identifier -Wreserved-macro-identifier>
  # For who links the static library with -Wl,--gc-sections.
  "$<$<CONFIG:Release,MinSizeRel>:-ffunction-sections;-fdata-sections>"
  $<$<BOOL:${CLBIN_WARNINGS_AS_ERRORS}>:-Werror>)
target_compile_definitions(standard_settings INTERFACE
  # Files of 2 GiB and more, and times after 2038. A host with 64 bits needs neither.
  "$<$<EQUAL:${CMAKE_SIZEOF_VOID_P},4>:_FILE_OFFSET_BITS=64;_TIME_BITS=64>"
  $<$<NOT:$<CONFIG:Release,MinSizeRel>>:_GLIBCXX_ASSERTIONS>
  $<$<AND:${is_libcxx},$<NOT:$<CONFIG:Release>>>:_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_EXTENSIVE>)
string(REGEX REPLACE "(.+)" "-fsanitize=\\1;-fno-omit-frame-pointer;-fno-sanitize-recover=all"
  checks "${CLBIN_SANITIZE}")
# For all that fuzzers link, but not for unit tests. -fsanitize=fuzzer, which defines main, is theirs.
set(coverage $<$<BOOL:${CLBIN_FUZZ}>:-fsanitize=fuzzer-no-link>)
# In libc++ 19, std::stop_token and std::jthread are experimental.
target_compile_options(standard_settings INTERFACE
  $<$<AND:${is_libcxx},$<COMPILE_LANGUAGE:CXX>>:-fexperimental-library> ${checks}
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:CLBIN_IS_TEST>>>:${coverage}>)
target_link_options(standard_settings INTERFACE $<${is_libcxx}:-fexperimental-library> ${checks} ${coverage}
  "$<$<BOOL:${CLBIN_STATIC_LIBSTDCXX}>:$<IF:$<BOOL:${WIN32}>,-static,-static-libstdc++;-static-libgcc>>")

# clbin_add_library(NAME TYPE SOURCES a.cpp… [EXCLUDE regex] [INCLUDES folder…] [DEFINITIONS X=1…]
#                   [PUBLIC x…] [PRIVATE x…])
# A library of sources, which may be patterns. INCLUDES is public, DEFINITIONS is private.
function(clbin_add_library name type)
  add_library(${name} ${type})
  _clbin_add_sources(${ARGV})
endfunction()

# clbin_add_program(NAME …): an executable that is not installed, with the same arguments.
function(clbin_add_program name)
  add_executable(${name})
  _clbin_add_sources(${name} EXECUTABLE ${ARGN})
endfunction()

function(_clbin_add_sources name type)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "EXCLUDE" "SOURCES;INCLUDES;DEFINITIONS;PUBLIC;PRIVATE")
  set(sources "")
  foreach(pattern IN LISTS arg_SOURCES)
    file(GLOB found CONFIGURE_DEPENDS ${pattern})
    if(NOT found AND NOT pattern MATCHES "[*]")
      message(FATAL_ERROR "${name}: there is no source '${pattern}'")
    endif()
    list(APPEND sources ${found})
  endforeach()
  list(SORT sources) # as one pattern gives them
  list(REMOVE_DUPLICATES sources)
  list(APPEND arg_EXCLUDE "/(${CLBIN_MEANINGLESS_TESTS})[.]cpp$")
  list(JOIN arg_EXCLUDE "|" arg_EXCLUDE)
  list(FILTER sources EXCLUDE REGEX ${arg_EXCLUDE})
  target_sources(${name} PRIVATE ${sources})
  target_include_directories(${name} PUBLIC ${arg_INCLUDES})
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS})
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE} standard_settings)
endfunction()
