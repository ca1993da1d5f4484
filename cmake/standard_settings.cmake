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
  # unnamed namespaces of the source.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
  # g++ collects garbage once it uses 1 GB (in KiB). A unity build otherwise takes a twelfth longer.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:--param=ggc-min-heapsize=1000000>
  $<$<CXX_COMPILER_ID:Clang>:-Wreserved-identifier -Wreserved-macro-identifier>
  $<$<BOOL:${CLBIN_WARNINGS_AS_ERRORS}>:-Werror>)
target_compile_definitions(standard_settings INTERFACE
  $<$<NOT:$<CONFIG:Release>>:_GLIBCXX_ASSERTIONS>)

if(CLBIN_LIBCXX)
  target_compile_definitions(standard_settings INTERFACE
    $<$<NOT:$<CONFIG:Release>>:_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_EXTENSIVE>)
  # In libc++ 19, std::stop_token and std::jthread are experimental.
  target_compile_options(standard_settings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fexperimental-library>)
  target_link_options(standard_settings INTERFACE -fexperimental-library)
endif()

if(CLBIN_SANITIZE)
  target_compile_options(standard_settings INTERFACE
    -fsanitize=${CLBIN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(standard_settings INTERFACE -fsanitize=${CLBIN_SANITIZE})
endif()

# Adds coverage to everything that fuzzers link. Only the fuzzers use -fsanitize=fuzzer, which
# defines main.
if(CLBIN_FUZZ)
  target_compile_options(standard_settings INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(standard_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(CLBIN_STATIC_LIBSTDCXX)
  target_link_options(standard_settings INTERFACE -static-libstdc++ -static-libgcc)
endif()

# clbin_add_program(NAME SOURCES a.cpp… LIBRARIES x…): an executable that is not installed.
function(clbin_add_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} standard_settings)
endfunction()
