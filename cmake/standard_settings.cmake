# Linked privately by every product and test target, so that no folder sets flags of its own.
add_library(standard_settings INTERFACE)
target_compile_options(standard_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wconversion -Wnon-virtual-dtor -Woverloaded-virtual>
  # g++ 12 sees overlaps that cannot be in std::string's operator+ (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # gcc 12 with -O2 and higher takes members of std::variant for uninitialized; clang's
  # sanitizers and analyzer look for what really is.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-maybe-uninitialized>
  # A unity build includes a source in another file, where g++ warns of classes that use its unnamed
  # namespaces.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
  $<$<CXX_COMPILER_ID:Clang>:-Wreserved-identifier -Wreserved-macro-identifier>
  $<$<BOOL:${CLBIN_WARNINGS_AS_ERRORS}>:-Werror>)
target_compile_definitions(standard_settings INTERFACE
  $<$<NOT:$<CONFIG:Release>>:_GLIBCXX_ASSERTIONS>)

if(CLBIN_LIBCXX)
  target_compile_definitions(standard_settings INTERFACE
    $<$<NOT:$<CONFIG:Release>>:_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_EXTENSIVE>)
  # libc++ 19 counts std::stop_token and std::jthread as experimental.
  target_compile_options(standard_settings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fexperimental-library>)
  target_link_options(standard_settings INTERFACE -fexperimental-library)
endif()

if(CLBIN_SANITIZE)
  target_compile_options(standard_settings INTERFACE
    -fsanitize=${CLBIN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(standard_settings INTERFACE -fsanitize=${CLBIN_SANITIZE})
endif()

# Coverage for the fuzzers in all that they link; -fsanitize=fuzzer, which brings main, is theirs alone.
if(CLBIN_FUZZ)
  target_compile_options(standard_settings INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(standard_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(CLBIN_PORTABLE)
  target_link_options(standard_settings INTERFACE -static-libstdc++ -static-libgcc)
endif()
