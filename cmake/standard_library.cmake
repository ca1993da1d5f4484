# Finds out which C++ standard library the compiler uses. Debian's C++ libraries are built with
# libstdc++. With libc++ (CMAKE_CXX_FLAGS=-stdlib=libc++), fmt and googletest are built from the
# sources in Debian's packages.
include(CheckCXXSymbolExists)
check_cxx_symbol_exists(_LIBCPP_VERSION version CLBIN_LIBCXX)

set(CLBIN_GOOGLETEST_SOURCE /usr/src/googletest CACHE PATH
  "Source folder of googletest, which is built from it for libc++")

# clbin_find_googletest(): GTest::gtest, GTest::gtest_main, and GTest::gmock.
macro(clbin_find_googletest)
  if(NOT CLBIN_LIBCXX)
    find_package(GTest REQUIRED)
  elseif(NOT TARGET GTest::gtest)
    set(INSTALL_GTEST OFF)
    add_subdirectory(${CLBIN_GOOGLETEST_SOURCE} ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)
    # AddressSanitizer checks the contents of a std::vector only if all code is built with it.
    foreach(library gtest gtest_main gmock gmock_main)
      target_compile_options(${library} PRIVATE -O0 -g0)
      if(CLBIN_SANITIZE)
        target_compile_options(${library} PRIVATE -fsanitize=${CLBIN_SANITIZE})
      endif()
    endforeach()
  endif()
endmacro()
