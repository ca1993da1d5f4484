include(GoogleTest)
clbin_find_googletest()

# What is tested is optimised; a test runs once, and its own code takes longer to optimise than to run.
add_library(test_settings INTERFACE)
target_link_libraries(test_settings INTERFACE standard_settings GTest::gtest GTest::gmock)
target_compile_options(test_settings INTERFACE -O0)

# What the tests' executables begin with, parsed once: half of a test's compile is these headers. No
# header of ours is among them, so that nothing is built again because one changed.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "")
add_library(test_headers OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/test_headers.cpp)
target_precompile_headers(test_headers PRIVATE
  <algorithm> <array> <atomic> <charconv> <chrono> <csignal> <cstdint> <cstdlib> <cstring> <filesystem>
  <fstream> <functional> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread>
  <utility> <vector> <gmock/gmock.h> <gtest/gtest.h>)
target_link_libraries(test_headers PRIVATE test_settings)
set_target_properties(test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_compile_options(test_headers PRIVATE -fPIE) # as CMake compiles an executable
# So that ccache can tell one precompiled header from another: gcc names the one that it takes, clang
# writes no time into it.
target_compile_options(test_settings INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>
  "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")

# The programs that the tests of a label run, so that a sanitizer build compiles no others.
add_custom_target(unit_tests)
add_custom_target(thread_tests)

# clbin_add_unit_test(NAME SOURCES a.cpp… LIBRARIES x… [LABELS unit] [TIMEOUT 120]
#                     [DATA_READERS a.cpp…])
# One executable, one ctest case a TEST. DATA_READERS are the sources that know CLBIN_TEST_DATA and
# CLBIN_KERNELS. Label "unit" needs no driver; "opencl" needs one, and gets
# the platforms of this machine and empty caches of its own; "faults" puts the fault-injecting layer
# over them (tests/support/fault_layer.hpp); "threads" is built by the target thread_tests, for
# ThreadSanitizer; "slow" is left out of the edit-test loop.
function(clbin_add_unit_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LIBRARIES;LABELS;DATA_READERS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
    if("opencl" IN_LIST arg_LABELS)
      set(arg_TIMEOUT 300) # seconds; some start a process that initialises every driver per fault
    endif()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} test_settings GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM test_headers)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  # For these sources alone: a folder of this checkout in its command line keeps ccache from sharing
  # an object with another checkout.
  set_source_files_properties(${arg_DATA_READERS} PROPERTIES COMPILE_DEFINITIONS
    "CLBIN_TEST_DATA=\"${PROJECT_SOURCE_DIR}/tests\";CLBIN_KERNELS=\"${PROJECT_SOURCE_DIR}/kernels\"")
  set(environment "")
  if("opencl" IN_LIST arg_LABELS)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/driver_environment.cpp)
    list(APPEND environment OCL_ICD_VENDORS=${CLBIN_PLATFORMS} RUSTICL_ENABLE=llvmpipe)
  endif()
  if("unit" IN_LIST arg_LABELS)
    add_dependencies(unit_tests ${name})
  endif()
  if("threads" IN_LIST arg_LABELS)
    add_dependencies(thread_tests ${name})
  endif()
  if("faults" IN_LIST arg_LABELS)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/fault_layer.cpp)
    target_compile_definitions(${name} PRIVATE CLBIN_FAULT_LAYER="$<TARGET_FILE:clbin_faults>")
    add_dependencies(${name} clbin_faults) # opened at run time, not linked
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
                       DISCOVERY_TIMEOUT 120)
  set(cost 0)
  if("slow" IN_LIST arg_LABELS OR "faults" IN_LIST arg_LABELS)
    set(cost 100) # ctest starts the longest tests first
  endif()
  # Not through PROPERTIES: gtest_discover_tests (3.25) loses the separators of lists in it.
  set(properties_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake)
  file(WRITE ${properties_file}
    "if(${name}_TESTS)\n"
    "  set_tests_properties(\${${name}_TESTS} PROPERTIES\n"
    "    LABELS \"${arg_LABELS}\" COST ${cost} TIMEOUT ${arg_TIMEOUT} ENVIRONMENT \"${environment}\")\n"
    "endif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${properties_file})
endfunction()
